"""Numbers on their way into arrays and out of them, in the dtype and shape of a table of padding."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def like(padding: Any, value: Any) -> Any:
    """A value in the dtype that its field has."""
    return np.asarray(value, padding.dtype)


def fill(padding: Any, values: Sequence[Any]) -> Any:
    """The values, then padding."""
    filled = np.array(padding)
    filled[: len(values)] = values
    return filled


def shortest(number: Any) -> float:
    """The float with the fewest digits that is the same float32."""
    return float(str(np.float32(number)))
