"""Puts the game of these tests, and the small environments of `tests/jaxenv/testing`, on the path."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "testing")]
