"""Learning from a dataset alone, by cloning all of it or its best tenth: `python examples/offline.py`, three minutes.

The data are sampled episodes of a policy that has trained for a moment, as `jaxenv collect RUN_DIR --no-greedy` writes
them. Cloning all of it gives about that policy; its best tenth (%BC of Chen et al. 2021) gives a better one.
Days differ, so an episode counts by its return less the mean return of its day.
"""

import functools
import tempfile
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn

import jaxenv
import train
from train.data import dataset
from train.experience.bank import generate_bank


class Clone(nn.Module):
    """The scores of all actions, from an observation as a vector."""

    num_actions: int

    @nn.compact
    def __call__(self, flat: jax.Array) -> jax.Array:
        """[..., F] -> [..., A]."""
        return nn.Dense(self.num_actions)(nn.relu(nn.Dense(128)(nn.relu(nn.Dense(128)(flat)))))


def advantages(arrays: dict[str, np.ndarray]) -> np.ndarray:
    """[episodes] float: the return less the mean return of the same scenario."""
    returns, scenario = np.add.reduceat(arrays["reward"], arrays["start"]), arrays["scenario"]
    mean = np.bincount(scenario, returns) / np.maximum(np.bincount(scenario), 1)
    return returns - mean[scenario]


def observations(env: Any, params: Any, arrays: dict[str, np.ndarray]) -> Any:
    """The record of observations, [n, ...] each, from the columns of a dataset."""
    record = jax.eval_shape(env.reset, jax.random.key(0), params)[0]
    name = functools.partial(jax.tree_util.keystr, simple=True, separator=".")
    return jax.tree_util.tree_map_with_path(lambda path, _: arrays[f"observation.{name(path)}"], record)


def clone(env: Any, params: Any, seen: Any, actions: np.ndarray, updates: int) -> Any:
    """A policy that imitates: the most probable legal action, by cross-entropy on [n] observations and actions."""
    network, optimizer = Clone(env.num_actions), optax.adam(1e-3)
    flat = jax.jit(jax.vmap(lambda one: env.flatten(one, params)))(seen)
    mean, spread = flat.mean(axis=0), flat.std(axis=0) + 1e-3

    def logits(weights: Any, flat: jax.Array, mask: jax.Array) -> jax.Array:
        scores: Any = network.apply(weights, (flat - mean) / spread)
        return jnp.where(mask, scores, -1e9)

    def update(carry: Any, key: jax.Array) -> tuple[Any, jax.Array]:
        rows = jax.random.randint(key, (512,), 0, len(actions))

        def loss(weights: Any) -> jax.Array:
            scores = logits(weights, flat[rows], seen.action_mask[rows])
            return optax.softmax_cross_entropy_with_integer_labels(scores, jnp.asarray(actions)[rows]).mean()

        value, gradient = jax.value_and_grad(loss)(carry[0])
        changes, moments = optimizer.update(gradient, carry[1])
        return (optax.apply_updates(carry[0], changes), moments), value

    seen = jax.tree.map(jnp.asarray, seen)
    weights = network.init(jax.random.key(0), flat[0])
    keys = jax.random.split(jax.random.key(1), updates)
    (weights, _), _ = jax.jit(lambda carry: jax.lax.scan(update, carry, keys))((weights, optimizer.init(weights)))

    def policy(key: jax.Array, observation: Any, params: Any) -> jax.Array:
        return jnp.argmax(logits(weights, env.flatten(observation, params), observation.action_mask)).astype(jnp.int32)

    return policy


def main(episodes: int = 20_000, updates: int = 3_000, total_steps: int = 131_072) -> dict[str, float]:
    """Collects, clones, prints and returns the mean return of each on the test set's easy days."""
    env, params = jaxenv.make("LifeOps-Shaped-v0")
    rollout = train.Rollout(num_envs=128, minibatch_size=512)
    config = train.Config(env=env.name, total_steps=total_steps, rollout=rollout)
    medium = train.train(env, params, config, show_progress=False).policy.replace(greedy=False)
    days = params.replace(
        bank=generate_bank(env, jax.random.key(0), count=max(episodes // 40, 1), difficulty=(0.0, 1.0))
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "days.npz"
        about = dataset.collect(path, medium, env, days, episodes, key=jax.random.key(1), at_once=512)
        arrays, _ = dataset.load(path)
    print(f"{about['transitions']:,} transitions of {episodes:,} episodes, mean return {about['mean_return']:.2f}")
    seen, above = observations(env, params, arrays), advantages(arrays)
    found = {"the policy that was recorded": medium}
    for share in (1.0, 0.1):
        rows = np.flatnonzero((above >= np.quantile(above, 1 - share))[arrays["episode"]])
        part = jax.tree.map(lambda column, rows=rows: column[rows], seen)
        found[f"cloned, the best {share:.0%}"] = clone(env, params, part, arrays["action"][rows], updates)
    returns = {name: jaxenv.score(each, env.name, sets=["easy"]).mean("easy").value for name, each in found.items()}
    for name, value in returns.items():
        print(f"{name:28s} {value:7.2f}")
    return returns


if __name__ == "__main__":
    main()
