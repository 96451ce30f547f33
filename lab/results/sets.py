"""The test sets: generated scenarios outside training, validation and tuning, some beyond the range of training."""

from typing import Any

import jax

from jaxenv.core import Environment
from train.experience.bank import generate_bank
from train.score.held_out import COUNT, has_generator

TEST_SEED = 20_261_124  # independent of the validation set, and of the seed of a run
TEST = {"easy": (0.0, 1 / 3), "medium": (1 / 3, 2 / 3), "hard": (2 / 3, 1.0)}  # together the range of training
SHIFTED = {"shifted": (2.0, 2.0)}  # more requests, more verbs a route, busier channels than training draws
SETS = TEST | SHIFTED


def held_out(env: Environment, params: Any) -> dict[str, Any]:
    """Name -> the params with that set as their bank, always the same; none for an environment without a generator.

    >>> import jaxenv
    >>> {name: params.bank.size for name, params in held_out(*jaxenv.make("LifeOps-v0")).items()}
    {'easy': 512, 'medium': 512, 'hard': 512, 'shifted': 512}
    """
    if not has_generator(env):
        return {}
    keys, shared = jax.random.split(jax.random.key(TEST_SEED), len(SETS)), params.bank.shared
    banks = (
        generate_bank(env, key, count=COUNT, difficulty=difficulty, shared=shared)
        for key, difficulty in zip(keys, SETS.values(), strict=True)
    )
    return {name: params.replace(bank=bank) for name, bank in zip(SETS, banks, strict=True)}
