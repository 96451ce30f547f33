"""The settings of a run, their presets, and the environment that they describe."""
