"""The nearest name: whatever its case, completed from its beginning, and none where none is near."""

import pytest

from jaxenv.core.names import did_you_mean, did_you_mean_one_of, nearest

NAMES = ("LifeOps-v0", "LifeStack-v0", "TeamsClone-v0")


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("LifeOps-v00", "LifeOps-v0"),
        ("LIFESTACK-V0", "LifeStack-v0"),
        ("teams", "TeamsClone-v0"),
        ("CartPole", None),
        ("", None),
        (3, None),
    ],
)
def test_the_nearest_name(word, name):
    assert nearest(word, NAMES) == name
    assert did_you_mean(word, NAMES) == (f" Did you mean {name!r}?" if name else "")


def test_all_names_follow():
    assert did_you_mean_one_of("x", iter(NAMES)) == " Available: LifeOps-v0, LifeStack-v0, TeamsClone-v0."
