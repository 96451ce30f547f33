"""Measured settings for each environment; one without a preset of its own trains with the defaults of `Config`."""

import dataclasses
import difflib
from collections.abc import Iterable

from train.config import Config, Hyper, Network, Rollout

# The planner's clock is observed and its limit scored, so the limit is an end and gamma may be 1. Its days are short:
# with short rollouts there are more gradient steps for the same number of environment steps.
_DAY = Config(
    env="LifeOps-v0",
    rollout=Rollout(bootstrap_truncated=False, num_steps=8, updates_per_superstep=8, epochs=2),
    total_steps=5_000_000,
    # With less entropy at first a long focus block is taken for good, before it is found that two short ones pay more.
    hyper=Hyper(gamma=1.0, learning_rate=3e-3, reward_scale=0.1, entropy_coef=0.2),
    network=Network(encoder="entities", hidden=(128, 128), activation="relu"),
)

# A crisis shows its clock too. Its hidden layers read the groups alone: the features of 118 actions are wide and come
# from the same routes, keys and metrics.
_CRISIS = Config(
    env="LifeStack-v0",
    rollout=Rollout(bootstrap_truncated=False, epochs=2),
    total_steps=4_000_000,
    hyper=Hyper(gamma=1.0, learning_rate=1e-3, reward_scale=0.1, entropy_coef=0.05),
    network=Network(encoder="entities", hidden=(128, 128), activation="relu", sees_actions=False),
)

# A chat shows its clock and is scored to its end.
_CHAT = Config(
    env="TeamsClone-v0",
    rollout=Rollout(bootstrap_truncated=False, epochs=2),
    total_steps=2_000_000,
    hyper=Hyper(gamma=0.99, learning_rate=1e-3, reward_scale=0.3, entropy_coef=0.02),
    network=Network(encoder="entities", hidden=(128, 128), activation="relu"),
)

PRESETS: dict[str, Config] = {
    "LifeOps-v0": _DAY,
    "LifeOps-Shaped-v0": dataclasses.replace(_DAY, env="LifeOps-Shaped-v0", hyper=_DAY.hyper.replace(entropy_coef=0.1)),
    "LifeStack-v0": _CRISIS,
    "TeamsClone-v0": _CHAT,
    "TeamsClone-Mentions-v0": dataclasses.replace(_CHAT, env="TeamsClone-Mentions-v0"),
    "TeamsClone-MultiTask-v0": dataclasses.replace(_CHAT, env="TeamsClone-MultiTask-v0"),
    "TeamsClone-MultiAgent-v0": dataclasses.replace(_CHAT, env="TeamsClone-MultiAgent-v0", total_steps=500_000),
}


def preset(name: str) -> Config:
    """The preset of that name; a ValueError names the nearest where there is none."""
    if name not in PRESETS:
        raise ValueError(f"no preset {name!r}.{nearest(name, PRESETS)}")
    return PRESETS[name]


def for_environment(env_id: str) -> Config:
    """The preset of an environment, or the defaults where it has none."""
    return PRESETS.get(env_id, Config(env=env_id))


def nearest(name: str, names: Iterable[str]) -> str:
    """A hint to put behind an error: the nearest of the names, and all of them."""
    names = list(names)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.4)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"{hint} There are: {', '.join(names)}."
