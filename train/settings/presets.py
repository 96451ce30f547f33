"""Tuned settings per environment, and the same for very large batches; others train with the defaults of `Config`.

They are PPO's. The changes for another algorithm are the same in every environment.
"""

import dataclasses
import math
from collections.abc import Callable

from jaxenv.host.names import require_one_of
from train.settings.config import Config
from train.settings.groups import Hyper, Network, Rollout

# Environments of the presets for accelerators, which compute in bfloat16: that learns as much, where it was tried.
LARGE = {"large": 32_768, "xlarge": 65_536}

_ENTITIES = Network(encoder="entities", hidden=(128, 128), activation="relu")
_BY_MASK = dataclasses.replace(_ENTITIES, sees_actions=False, sees_mask=True)
_NARROW = dataclasses.replace(_ENTITIES, embedding=16, hidden=(64, 64))  # costs PPO at most 0.1, where it is

# The planner observes its clock and its time limit is part of the task, so the limit counts as termination and gamma
# may be 1. Its days are short: short rollouts give more gradient steps per environment step.
_DAY = Config(
    env="LifeOps-v0",
    rollout=Rollout(bootstrap_truncated=False, num_steps=8, updates_per_superstep=8, epochs=2, minibatch_size=1024),
    total_steps=5_000_000,
    # With less initial entropy the policy settles for one long focus block before it finds that two short ones pay.
    hyper=Hyper(gamma=1.0, learning_rate=3e-3, reward_scale=0.1, entropy_coef=0.2),
    network=_ENTITIES,
)

# A crisis shows its clock too. Its hidden layers read only the entity groups: the features of its 118 actions are wide
# and repeat what the groups say of routes, keys and metrics. One pass over each rollout learns as much as two in 0.6 of
# the time, where minibatches are small; with 1,024 it wins less beyond training.
_CRISIS = Config(
    env="LifeStack-v0",
    rollout=Rollout(bootstrap_truncated=False, epochs=1, minibatch_size=512),
    total_steps=4_000_000,
    hyper=Hyper(gamma=1.0, learning_rate=1e-3, reward_scale=0.1, entropy_coef=0.05),
    network=dataclasses.replace(_ENTITIES, sees_actions=False),
)

# A chat shows its clock and counts every step up to its time limit. Most features of its 114 actions never change, or
# repeat what the context says of channels: its hidden layers read which actions are legal in their place. Here too one
# pass in smaller minibatches learns as much as two, and so does a network half as wide in 0.6 of the time.
_CHAT = Config(
    env="TeamsClone-v0",
    rollout=Rollout(bootstrap_truncated=False, epochs=1, minibatch_size=1024),
    total_steps=3_000_000,
    hyper=Hyper(gamma=0.99, learning_rate=1e-3, reward_scale=0.3, entropy_coef=0.02),
    network=dataclasses.replace(_NARROW, sees_actions=False, sees_mask=True),
)

# A week shows its clock. Rollouts are long, so that gradients reach from what is told to where it is asked for.
_WEEK = Config(
    env="Week-v0",
    rollout=Rollout(bootstrap_truncated=False, num_envs=256, num_steps=64, epochs=2),
    total_steps=10_000_000,
    hyper=Hyper(gamma=0.99, learning_rate=1e-3, reward_scale=0.3),
    network=_BY_MASK,
)

_AGENTS = dataclasses.replace(
    _CHAT,
    rollout=dataclasses.replace(_CHAT.rollout, minibatch_size=4096),  # of four agents
    total_steps=750_000,
    network=_BY_MASK,
)

_SETTINGS = {
    "LifeOps-v0": _DAY,
    # One pass over each rollout in smaller minibatches learns as much as two passes, and a network half as wide almost
    # as much as a wide one, in less time. Hidden layers that read the 46 actions through a small embedding learn sooner
    # than from their 460 features.
    "LifeOps-Shaped-v0": dataclasses.replace(
        _DAY,
        rollout=dataclasses.replace(_DAY.rollout, epochs=1, minibatch_size=512),
        total_steps=4_000_000,
        hyper=_DAY.hyper.replace(entropy_coef=0.15),
        network=dataclasses.replace(_NARROW, action_embedding=4),
    ),
    "LifeStack-v0": _CRISIS,
    "TeamsClone-v0": _CHAT,
    # Every mention counts here: 99 % of episodes succeed with all features of the actions, 97 % with the mask alone.
    "TeamsClone-Mentions-v0": dataclasses.replace(_CHAT, network=_NARROW),
    "TeamsClone-MultiTask-v0": _CHAT,
    "TeamsClone-MultiAgent-v0": _AGENTS,
    "Week-v0": _WEEK,
    "Week-Notes-v0": _WEEK,
    "Week-Open-v0": _WEEK,
    "TeamsClone-MultiAgent-v1": _AGENTS,
}
_BY_ENVIRONMENT = {id: dataclasses.replace(config, env=id) for id, config in _SETTINGS.items()}


def scaled(config: Config, num_envs: int) -> Config:
    """The settings for more environments than they name, by one law for all environments.

    With k times the environments rollouts are k times shorter, at most four times, since a large batch needs updates
    more than it needs steps between them; generated scenarios are renewed as many updates later, so that a step brings
    as many new ones. The remaining growth g of the batch is shared between minibatches and the length of the run: both
    grow by the root of g, up to a power of two, so that there are about as many gradient steps. Learning rate and
    epochs stay.
    With fewer environments only minibatches change, where those of before do not divide a rollout.

    >>> many = scaled(preset("LifeStack-v0"), 65_536)
    >>> many.rollout.num_steps, many.rollout.minibatch_size, many.total_steps
    (4, 2048, 16000000)
    """
    old = config.rollout
    shorter = min(4, 2 ** int(math.log2(max(num_envs / old.num_envs, 1.0))), old.num_steps)
    num_steps = old.num_steps // shorter
    batch = num_envs * num_steps
    growth = 2 ** max(0, math.ceil(math.log2(batch / old.batch_size) / 2))
    rollout = dataclasses.replace(
        old,
        num_envs=num_envs,
        num_steps=num_steps,
        minibatch_size=_nearest_divisor(batch, old.minibatch_size * growth),
        updates_per_superstep=max(1, old.updates_per_superstep // growth),
    )
    training = dataclasses.replace(config.training, refresh=config.training.refresh * shorter)
    return config.replace(rollout=rollout, training=training, total_steps=config.total_steps * growth)


def _nearest_divisor(number: int, wanted: int) -> int:
    """The divisor of a number that is nearest to the wanted size, as a ratio."""
    small = [i for i in range(1, math.isqrt(number) + 1) if number % i == 0]
    return min([*small, *(number // i for i in small)], key=lambda size: abs(math.log(size / wanted)))


PRESETS: dict[str, Config] = {
    **_BY_ENVIRONMENT,
    **{
        f"{id.removesuffix('-v0').lower()}-{name}": scaled(config, size).replace(network=network)
        for id, config in _BY_ENVIRONMENT.items()
        for network in [dataclasses.replace(config.network, dtype="bfloat16")]
        for name, size in LARGE.items()
    },
}


def preset(name: str) -> Config:
    """The preset of that name: an environment's id, or for very large batches its name in lower case and a size.

    >>> preset("LifeOps-v0").hyper.gamma
    1.0
    >>> preset("lifeops-large").rollout.num_envs
    32768

    Raises:
        ValueError: for an unknown name, with the nearest one.
    """
    require_one_of(name, PRESETS, f"no preset {name!r}")
    return PRESETS[name]


def for_environment(env_id: str) -> Config:
    """The preset of an environment, or the defaults if it has none."""
    return PRESETS.get(env_id, Config(env=env_id))


def for_algorithm(name: str, config: Config) -> Config:
    """The preset of an environment, or the defaults, as an algorithm needs them.

    >>> for_algorithm("pqn", preset("LifeOps-v0")).network.layer_norm
    True
    """
    return _CHANGES[name](config) if name in _CHANGES else config


def _pqn(config: Config) -> Config:
    """Layer normalization and clipping as in Gallici et al. 2024; hidden layers are shared as in a Q-network.

    Targets are of one step: longer returns contain the costs of later random actions, and learned worse in the planner.
    """
    return dataclasses.replace(
        config,
        rollout=_smaller(config.rollout, epochs=config.rollout.epochs, num_steps=config.rollout.num_steps),
        hyper=config.hyper.replace(max_grad_norm=10.0, gae_lambda=0.0),
        network=dataclasses.replace(config.network, layer_norm=True, shared_trunk=True),
    )


def _dqn(config: Config) -> Config:
    """Short rollouts, so that the policy acts soon on its learning; hidden layers are shared as in a Q-network."""
    return dataclasses.replace(
        config,
        rollout=_smaller(config.rollout, epochs=2, num_steps=4),
        hyper=config.hyper.replace(learning_rate=1e-3, max_grad_norm=10.0),
        network=dataclasses.replace(config.network, shared_trunk=True),
    )


def _smaller(rollout: Rollout, *, epochs: int, num_steps: int) -> Rollout:
    """Fewer environments and smaller minibatches: more gradient steps for each step. A superstep is as long."""
    num_envs, steps = 256, rollout.batch_size * rollout.updates_per_superstep
    sizes = {"num_envs": num_envs, "num_steps": num_steps, "epochs": epochs, "minibatch_size": 256}
    updates = max(1, steps // (num_envs * num_steps))
    return dataclasses.replace(rollout, **sizes, microbatch_size=None, updates_per_superstep=updates)


_CHANGES: dict[str, Callable[[Config], Config]] = {"pqn": _pqn, "dqn": _dqn}
