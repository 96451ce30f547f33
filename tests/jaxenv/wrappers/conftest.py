"""Puts the small environments of `tests/jaxenv/testing` on the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))
