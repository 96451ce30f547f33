"""Signs and names that the pictures and the text of a crisis share."""

from jaxenv.envs.lifestack.metrics import INVERTED, METRICS
from jaxenv.envs.lifestack.types import FAILS, HOLDS, NOT_KNOWN
from jaxenv.rendering.text import spaced

SIGNS = {HOLDS: "✓", FAILS: "✗", NOT_KNOWN: "?"}
STAR, FLAG, DANGER = "★", "⚑", "⚠"  # of success, of a milestone, of a failure
UNITS = {"time": " h", "money": "", "energy": ""}
COLLAPSE = 20.0  # a metric, oriented so that higher is better, has collapsed below it


def path_in_words(path: str) -> str:
    """A metric for people: `mental_wellbeing.stress_level` as `stress level`."""
    return spaced(path.partition(".")[2])


def metric_name(number: int) -> str:
    """The name of a metric, behind an arrow if lower is better and 100 minus the value is shown."""
    return ("↓ " if INVERTED[number] else "") + path_in_words(METRICS[number])


def domains() -> dict[str, list[int]]:
    """The metrics of each domain, in order."""
    found: dict[str, list[int]] = {}
    for number, path in enumerate(METRICS):
        found.setdefault(spaced(path.partition(".")[0]), []).append(number)
    return found
