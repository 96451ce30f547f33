"""How things are marked and called, in pictures and in text."""

from jaxenv.envs.lifestack.metrics import INVERTED, METRICS
from jaxenv.envs.lifestack.types import FAILS, HOLDS, NOT_KNOWN

SIGNS = {HOLDS: "✓", FAILS: "✗", NOT_KNOWN: "?"}
STAR, FLAG, DANGER = "★", "⚑", "⚠"  # of success, of a milestone, of a failure
UNITS = {"time": " h", "money": "", "energy": ""}
COLLAPSE = 20.0  # a metric, turned so that more is better, that is below has collapsed


def path_in_words(path: str) -> str:
    """A metric for people: `mental_wellbeing.stress_level` as `stress level`."""
    return path.partition(".")[2].replace("_", " ")


def metric_name(number: int) -> str:
    """What a metric is called, behind an arrow where it is better when lower and 100 minus the value is shown."""
    return ("↓ " if INVERTED[number] else "") + path_in_words(METRICS[number])


def domains() -> dict[str, list[int]]:
    """The metrics of each domain, in order."""
    found: dict[str, list[int]] = {}
    for number, path in enumerate(METRICS):
        found.setdefault(path.partition(".")[0].replace("_", " "), []).append(number)
    return found
