"""What a run writes and reads again: its folder, checkpoints and policies."""
