"""How fast the programs are where they run, and what they become where they might run."""
