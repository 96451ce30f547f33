"""Calibration of the critic: its values and the returns that followed, step by step."""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core import Environment
from jaxenv.core.types import Key
from train.experience.rollout import collect
from train.networks.policy import LearnedPolicy, Reader
from train.score.episodes import start
from train.settings.groups import Hyper, Rollout


@dataclasses.dataclass(frozen=True)
class Calibration:
    """Means at each of L steps, over the agents whose episodes reached that step; NaN where none did.

    >>> found = Calibration(value=np.array([2.5, 1.0]), return_to_go=np.array([2.0, 1.0]), count=np.array([512, 512]))
    >>> found.value - found.return_to_go  # this critic is too optimistic at the first step
    array([0.5, 0. ])
    """

    value: np.ndarray  # [L] float64, V(observation before the step), in scaled reward
    return_to_go: np.ndarray  # [L] float64, discounted scaled rewards from that step on
    count: np.ndarray  # [L] int64, agents averaged over


def calibrate(
    policy: LearnedPolicy, env: Environment, env_params: Any, hyper: Hyper, *, key: Key, repetitions: int = 1
) -> Calibration:
    """Plays each scenario of the bank and compares the critic's values with the returns that followed.

    Actions are those of the policy which the critic values: sampled, as in training; for a policy of PQN or DQN, whose
    V(s) is the greatest Q(s, a), the greedy ones. The time limit counts as termination, so a critic that was trained to
    look beyond it (`bootstrap_truncated`) predicts more.
    With `normalize_rewards` a critic predicts in units of its own, which a policy does not hold: it cannot be compared.

    >>> import functools, jax, jax.numpy as jnp, jaxenv, train
    >>> from train.settings.groups import Network
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> config = train.Config(env="LifeOps-v0", network=Network(hidden=(8,)))
    >>> state = jax.eval_shape(functools.partial(train.init, config=config, env=env), jax.random.key(0), params)
    >>> policy = train.ppo.policy_of(state, config=config, env=env)
    >>> policy = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), policy)  # instead of `train.load_policy`
    >>> found = train.calibrate(policy, env, params, config.hyper, key=jax.random.key(0))
    >>> int(found.count[0]), float(found.value[0])  # the 12 days of the library have a first step, valued 0
    (12, 0.0)

    Args:
        policy: the trained policy.
        env: the environment.
        env_params: its params, with a bank that was not trained on.
        hyper: discount and reward scale of the training.
        key: random key of actions and episodes.
        repetitions: episodes per scenario.
    """
    scenarios = jnp.arange(env_params.bank.size, dtype=jnp.int32).repeat(repetitions)
    limit = int(env_params.max_steps_in_episode)
    sizes = Rollout(num_envs=scenarios.size, num_steps=limit, minibatch_size=scenarios.size, bootstrap_truncated=False)
    played = _play(policy, env, sizes, env_params, scenarios, key)
    value, reward, is_live = (np.asarray(x, np.float64) for x in played)
    gamma, scale = float(hyper.gamma), float(hyper.reward_scale)
    return_to_go = np.zeros_like(value)
    following = np.zeros_like(value[0])
    for step in reversed(range(limit)):
        following = return_to_go[step] = is_live[step] * (scale * reward[step] + gamma * following)
    count = is_live.sum(axis=1).astype(np.int64)
    share = is_live / np.where(count, count, np.nan)[:, None]
    return Calibration((share * value).sum(axis=1), (share * return_to_go).sum(axis=1), count)


@functools.partial(jax.jit, static_argnums=(1, 2))
def _play(
    policy: LearnedPolicy, env: Environment, sizes: Rollout, env_params: Any, scenarios: jax.Array, key: Key
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """(values, rewards, whether it is the first episode), each [L, B] with a row per agent of every episode."""
    start_key, play_key = jax.random.split(key)
    reader, envs = Reader(policy.network, env, env_params), start(start_key, policy, env_params, scenarios, env)
    explore = (lambda distribution, mask: distribution.or_uniform(mask, 0.0)) if policy.of_values else None
    _, steps, *_ = collect(play_key, policy.weights, envs, reader, sizes, explore=explore)
    return steps.value, steps.reward, steps.is_first
