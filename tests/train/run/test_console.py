"""The length of a run in words."""

import pytest

from train.run import progress
from train.settings.config import Config
from train.settings.groups import Rollout


@pytest.mark.parametrize(
    ("num_envs", "total", "lines"),
    [
        (
            1024,
            4_000_000,
            ["4,063,232 environment steps: 62 supersteps of 65,536 (rounded up from 4,000,000); 7,936 gradient steps"],
        ),
        (
            65_536,
            4_000_000,
            [
                "4,194,304 environment steps: 1 superstep of 4,194,304 (rounded up from 4,000,000); "
                "8,192 gradient steps",
                "A short run: fewer than 10 supersteps.",
            ],
        ),
        (
            1024,
            131_072,
            [
                "131,072 environment steps: 2 supersteps of 65,536; 256 gradient steps",
                "A short run: fewer than 10 supersteps and 1,000 gradient steps.",
            ],
        ),
    ],
)
def test_the_length_of_a_run_in_words(num_envs, total, lines):
    config = Config(env="any", total_steps=total, rollout=Rollout(num_envs=num_envs))
    assert progress.length(config).splitlines() == lines


def test_gradient_steps_are_counted_over_the_samples_of_all_agents():
    config = Config(env="any", total_steps=655_360)
    assert "; 1,280 gradient steps" in progress.length(config)
    assert "; 5,120 gradient steps" in progress.length(config, num_agents=4)
    assert progress.length(config, num_agents=4).count("short") == 0
