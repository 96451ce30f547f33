"""`-v0` is a promise: one frozen trajectory per id. A change that breaks this file makes a `-v1`, not a new golden.

A new environment's golden is written once, by `python tests/jaxenv/test_goldens.py ID`.
"""

import json
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv

GOLDENS = Path(__file__).parents[1] / "data" / "goldens"
STEPS = 24  # of each scenario, over several automatic resets
MORE_STEPS = {"TeamsClone-MultiAgent-v1": 104}  # whose goal is judged from the middle of an episode on


def play(env_id):
    """Every scenario of the library side by side, each agent's action picked from its legal ones by a fixed rule."""
    env, params = jaxenv.make(env_id)
    count = params.bank.size

    @jax.jit
    def step(keys, state, actions, params):
        return jax.vmap(env.step, in_axes=(0, 0, 0, None))(keys, state, actions, params)

    key = jax.random.key(2024)
    reset = jax.jit(jax.vmap(env.reset_env, in_axes=(0, None, 0)))
    obs, state = reset(jax.random.split(key, count), params, jnp.arange(count))
    rows = []
    for t in range(MORE_STEPS.get(env_id, STEPS)):
        shape = obs.action_mask.shape[:-1]
        masks = np.asarray(obs.action_mask).reshape(-1, env.num_actions)
        actions = [np.flatnonzero(mask)[(7 * t + 3 * i) % mask.sum()] for i, mask in enumerate(masks)]
        keys = jax.random.split(jax.random.fold_in(key, t), count)
        joint = jnp.array(actions, jnp.int32).reshape(shape)
        obs, state, reward, terminated, truncated, _ = step(keys, state, joint, params)
        rows.append(
            {
                "legal": masks.sum(axis=1).tolist(),
                "action": [int(action) for action in actions],
                "reward": [round(float(r), 5) for r in np.ravel(reward)],
                "terminated": np.flatnonzero(terminated).tolist(),
                "truncated": np.flatnonzero(truncated).tolist(),
            }
        )
    return rows


@pytest.mark.smoke
@pytest.mark.parametrize("env_id", jaxenv.registered())
def test_the_golden_trajectory_is_repeated(env_id):
    golden = json.loads((GOLDENS / f"{env_id}.json").read_text())
    for found, expected in zip(play(env_id), golden, strict=True):
        rewards = found.pop("reward"), expected.pop("reward")
        assert found == expected
        assert rewards[0] == pytest.approx(rewards[1], rel=1e-5, abs=2e-5)


if __name__ == "__main__":
    path = GOLDENS / f"{sys.argv[1]}.json"
    if path.exists():
        sys.exit(f"{path} is frozen")
    path.write_text("[\n" + ",\n".join(json.dumps(row) for row in play(sys.argv[1])) + "\n]\n")
