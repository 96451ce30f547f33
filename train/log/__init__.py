"""The metrics of a run: records, events, curves."""
