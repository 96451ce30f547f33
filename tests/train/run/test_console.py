"""The length of a run in words."""

import pytest

from train.run import console
from train.settings.config import Config
from train.settings.groups import Rollout


@pytest.mark.parametrize(
    ("num_envs", "total", "line"),
    [
        (1024, 4_000_000, "4,063,232 environment steps: 62 supersteps of 65,536 (rounded up from 4,000,000)"),
        (65_536, 4_000_000, "4,194,304 environment steps: 1 superstep of 4,194,304 (rounded up from 4,000,000)"),
        (1024, 131_072, "131,072 environment steps: 2 supersteps of 65,536"),
    ],
)
def test_the_length_of_a_run_in_words(num_envs, total, line):
    assert console.length(Config(env="any", total_steps=total, rollout=Rollout(num_envs=num_envs))) == line
