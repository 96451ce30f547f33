"""The small settings of the trainer's tests are those of the saved runs."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "train"))
