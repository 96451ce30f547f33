"""Programs as users compile them: every id's reset, step and superstep, without the quick flags of `make test`.

A compiler that never ends is stopped by a limit in CPU seconds, so that a busy machine does not break the test.
"""

import functools
import os
import resource
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

import jaxenv
import train

ENVS = 256
LIMIT = 120  # CPU seconds of a program, all threads together; the longest took 34 on a busy machine


def programs(env_id):
    """name -> how to lower it: what the README's first program and `jaxenv ppo` compile."""
    env, params = jaxenv.make(env_id)
    many = jaxenv.wrappers.Vectorize(env, ENVS)
    key = jax.random.key(0)
    observation, state = jax.eval_shape(many.reset, key, params)
    actions = jax.ShapeDtypeStruct(observation.action_mask.shape[:-1], jnp.int32)
    config = train.preset(env_id)
    config = replace(config, rollout=replace(config.rollout, num_envs=ENVS, minibatch_size=ENVS))
    begun = jax.eval_shape(functools.partial(train.init, config=config, env=env), key, params)
    return {
        "reset": lambda: jax.jit(many.reset).lower(key, params),
        "step": lambda: jax.jit(many.step).lower(key, state, actions, params),
        "superstep": lambda: train.make_superstep(config, env).lower(begun, params, config.hyper),
    }


def compile_all(env_id):
    """Compiles each of them, and prints its name before and its CPU seconds after."""
    for name, lower in programs(env_id).items():
        began = time.process_time()
        resource.setrlimit(resource.RLIMIT_CPU, (int(began) + LIMIT, resource.RLIM_INFINITY))
        print(env_id, name, end=" ", flush=True)
        lower().compile()
        print(f"{time.process_time() - began:.1f}", flush=True)


@pytest.mark.parametrize("env_id", jaxenv.registered())
def test_what_users_run_compiles_in_time(env_id):
    unset = ("XLA_FLAGS", "JAX_COMPILATION_CACHE_DIR")
    clean = {name: value for name, value in os.environ.items() if name not in unset}
    clean |= {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(Path(__file__).parents[1])}
    found = subprocess.run([sys.executable, __file__, env_id], env=clean, capture_output=True, text=True)
    assert found.returncode == 0, f"stopped after {LIMIT} CPU seconds: {found.stdout}\n{found.stderr[-2000:]}"
    assert [line.split()[1] for line in found.stdout.splitlines()] == ["reset", "step", "superstep"]


if __name__ == "__main__":
    compile_all(*sys.argv[1:])
