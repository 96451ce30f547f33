"""The files of a run, written and read again: its folder, checkpoints and policies."""
