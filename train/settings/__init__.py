"""What a run is asked to do: its settings, their presets, and the environment that they describe."""
