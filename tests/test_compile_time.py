"""Programs as users compile them: every id's reset and step, and each family's superstep, without `make test`'s flags.

A compiler that never ends is stopped by a limit in CPU seconds, so that a busy machine does not break the test.
"""

import functools
import os
import re
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

ROOT = Path(__file__).parents[1]
ENVS = 256
LIMIT = 120  # CPU seconds of a program, all threads together; the longest took 34 on a busy machine
TRAINED = ("LifeOps-Shaped-v0", "LifeStack-v0", "TeamsClone-v0")
# It is the compiler of JAX 0.11 and later that did not end; the one before is timed by `make test-all` alone.
IDS = [pytest.param(id, marks=[pytest.mark.slow] * (jax.__version_info__ < (0, 11))) for id in jaxenv.registered()]
pytestmark = pytest.mark.smoke


def programs(env_id):
    """name -> how to lower it."""
    env, params = jaxenv.make(env_id)
    many = jaxenv.wrappers.Vectorize(env, ENVS)
    key = jax.random.key(0)
    observation, state = jax.eval_shape(many.reset, key, params)
    actions = jax.ShapeDtypeStruct(observation.action_mask.shape[:-1], jnp.int32)
    yield "reset", lambda: jax.jit(many.reset).lower(key, params)
    yield "step", lambda: jax.jit(many.step).lower(key, state, actions, params)
    if env_id in TRAINED:
        config = train.preset(env_id)
        config = replace(config, rollout=replace(config.rollout, num_envs=ENVS, minibatch_size=ENVS))
        begun = jax.eval_shape(functools.partial(train.init, config=config, env=env), key, params)
        yield "superstep", lambda: train.make_superstep(config, env).lower(begun, params, config.hyper)


def limit():
    """Stops this process after so many more CPU seconds."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + LIMIT, resource.RLIM_INFINITY))


def compile_all(env_id):
    """Compiles each of them, and prints its name before and its CPU seconds after."""
    for name, lower in programs(env_id):
        limit()
        began = time.process_time()
        print(name, end=" ", flush=True)
        lower().compile()
        print(f"{time.process_time() - began:.1f}", flush=True)


def as_a_user(*command, cwd=ROOT):
    """What a Python program prints, by XLA's own settings and with nothing that was compiled before."""
    unset = ("XLA_FLAGS", "JAX_COMPILATION_CACHE_DIR")
    clean = {name: value for name, value in os.environ.items() if name not in unset}
    clean |= {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)}
    found = subprocess.run([sys.executable, *command], cwd=cwd, env=clean, capture_output=True, text=True)
    assert found.returncode == 0, f"{LIMIT} CPU seconds suffice: {found.stdout}\n{found.stderr[-2000:]}"
    return found.stdout


@pytest.mark.parametrize("env_id", IDS)
def test_what_users_run_compiles_in_time(env_id):
    lines = as_a_user(__file__, env_id).splitlines()
    assert [line.split()[0] for line in lines] == ["reset", "step", "superstep"][: 2 + (env_id in TRAINED)]


def test_the_first_program_of_the_readme_ends_in_time(tmp_path):
    program = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)[1]
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_CPU, ({LIMIT}, {LIMIT}))\n{program}"
    reward, penalty = as_a_user("-c", limited, cwd=tmp_path).split()
    assert -10 < float(reward) < 10
    assert float(penalty) <= 0


if __name__ == "__main__":
    compile_all(*sys.argv[1:])
