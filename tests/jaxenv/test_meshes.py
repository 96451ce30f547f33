"""Laws of every registered environment in programs that leave the process: on several devices, or exported."""

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AbstractMesh, AxisType, PartitionSpec

from strategies.ids import IDS
from strategies.turns import KEY, actions, agents, assert_same, first, make


def episodes(env, steps=3):
    """A scan over steps of several environments, as each device of a mesh has it: what the agents see, and rewards."""

    def play(keys, params):
        def turn(carry, number):
            observation, state = carry
            action = jnp.argmax(observation.action_mask, axis=-1).astype(jnp.int32)
            turn_keys = jax.vmap(jax.random.fold_in, (0, None))(keys, number)
            observation, state, reward, *_ = jax.vmap(env.step, (0, 0, 0, None))(turn_keys, state, action, params)
            return (observation, state), reward

        first = jax.vmap(env.reset_env, (0, None))(keys, params)
        (observation, _), rewards = jax.lax.scan(turn, first, jnp.arange(steps))
        return observation, rewards.swapaxes(0, 1)

    return play


def on_mesh(env, mesh):
    specs = {"in_specs": (PartitionSpec("devices"), PartitionSpec()), "out_specs": PartitionSpec("devices")}
    return jax.shard_map(episodes(env), mesh=mesh, **specs)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", IDS)
def test_a_scan_of_steps_lies_in_a_shard_map(env_id):
    """With its check of types, for batches large enough for `where_rare` to loop."""
    env, params = make(env_id)
    keys = jax.eval_shape(lambda: jax.random.split(KEY, 256))
    mesh = AbstractMesh((2,), ("devices",), axis_types=(AxisType.Auto,))
    _, rewards = jax.eval_shape(on_mesh(env, mesh), keys, params)
    assert rewards.shape == (256, 3, *agents(env))


def compare_on_devices(env_id):
    """Run by a process with two devices."""
    env, params = make(env_id)
    keys = jax.random.split(KEY, 256)
    mesh = jax.make_mesh((2,), ("devices",), axis_types=(AxisType.Auto,))
    assert_same(jax.jit(on_mesh(env, mesh))(keys, params), jax.jit(episodes(env))(keys, params))


@pytest.mark.slow
@pytest.mark.parametrize("env_id", IDS)
def test_two_devices_play_the_same(env_id):
    environment = {
        **os.environ,
        "JAX_NUM_CPU_DEVICES": "2",
        "JAX_PLATFORMS": "cpu",
        "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path]),
    }
    program = f"import test_meshes; test_meshes.compare_on_devices({env_id!r})"
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=600)


# Exports --------------------------------------------------------------------------------------------------------------


def exported(env_id):
    """Reset and step, written and read again."""
    pytest.importorskip("flatbuffers")
    env, params = make(env_id)
    _, state = jax.eval_shape(env.reset_env, KEY, params)
    reset = jax.export.export(jax.jit(env.reset))(KEY, params)
    step = jax.export.export(jax.jit(env.step))(KEY, state, actions(env), params)
    return [(program, jax.export.deserialize(program.serialize())) for program in (reset, step)]


@pytest.mark.parametrize("env_id", IDS)
def test_reset_and_step_can_be_exported(env_id):
    for program, again in exported(env_id):
        assert (again.in_tree, again.out_tree) == (program.in_tree, program.out_tree)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", IDS)
def test_an_exported_step_gives_the_same(env_id):
    env, params = make(env_id)
    (_, reset), (_, step) = exported(env_id)
    _, state, action = first(env_id)
    assert_same(reset.call(KEY, params), env.reset(KEY, params))
    assert_same(step.call(KEY, state, action, params), env.step(KEY, state, action, params))
