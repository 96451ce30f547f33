"""What is timed: steps of whole batches, and totals by environment."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
from train.benchmark import measure, selection, workload
from train.benchmark.workload import STEPS, Sizes, Workload, copies, steps_of
from train.experience.bank import first_bank

TABLE = "Table-v0"
OURS = functools.partial(workload.registered, "LifeOps-v0")


def test_no_sum_over_the_batch_lies_in_the_step():
    """What is added up there keeps its axis of environments."""
    work = steps_of(OURS(), 64, steps=2)
    params = work.params()
    carry = jax.eval_shape(work.start, jax.random.key(0), params)
    jaxpr = jax.make_jaxpr(work.run)(jax.random.key(0), carry, params)
    (scan,) = [equation for equation in jaxpr.eqns if equation.primitive.name == "scan"]
    assert {carried.aval.shape[0] for carried in scan.outvars} == {64}
    assert {equation.primitive.name for equation in jaxpr.eqns} >= {"scan", "reduce_sum"}


@pytest.mark.slow
@pytest.mark.usefixtures("probe_is_registered")
def test_totals_are_those_of_the_steps():
    work = steps_of(workload.registered(TABLE), 4, steps=3)
    (running,) = measure.compile_all({"": work})
    carry = work.start(jax.random.key(5), running.params)
    _, (reward, ends) = running.program(jax.random.key(1), carry, running.params)
    assert abs(float(reward)) <= 12
    assert int(ends) == 12  # each of its episodes is one step


def test_rounds_are_taken_in_turns():
    ran = []

    def workload(name):
        def run(key, carry, params):
            jax.debug.callback(lambda: ran.append(name))
            return carry + 1, None

        return Workload(4, 4, lambda: None, lambda key, params: jnp.zeros(4), run)

    running = measure.compile_all({name: workload(name) for name in "ab"})
    for each in running:
        each.calls = 1
    jax.effects_barrier()
    ran.clear()
    measure.in_turns(running, rounds=3)
    jax.effects_barrier()
    assert ran == ["a", "b"] * 3
    assert [len(each.result.steps_per_s) for each in running] == [3, 3]


def test_the_floor_moves_the_bytes_that_a_step_must_move():
    work = copies(64, Sizes(331, 587).floor, steps=2)
    carry = jax.eval_shape(work.start, jax.random.key(0), None)
    assert 2 * carry.size * carry.dtype.itemsize == 64 * (2 * 331 + 587)  # read and written


def test_workloads_are_chosen_by_the_names_that_are_printed():
    ids = jaxenv.registered()
    assert list(selection.select(["environments"], ["library"], only="counted")) == [f"{id}, counted" for id in ids]
    assert list(selection.select(["rollout"], ["generated"], only="Shaped")) == [
        "LifeOps-Shaped-v0, rollout, generated"
    ]
    both = selection.select(["environments", "training"], ["library", "generated"], only="LifeOps-v0")
    assert list(both) == [
        *("LifeOps-v0", "LifeOps-v0, counted", "LifeOps-v0, generated", "LifeOps-v0, counted, generated"),
        "LifeOps-v0, training",
    ]
    with pytest.raises(ValueError, match=r"no program's name contains 'jumanji'\. Available: LifeOps-v0; "):
        selection.select(["environments"], ["library"], only="jumanji")
    with pytest.raises(ValueError, match=r"no 'traning' here\. Did you mean 'training'\?"):
        selection.select(["traning"], ["library"])


def test_a_generated_bank_is_the_same_in_every_call_also_after_one_for_its_shapes():
    """As compiling for other chips asks for shapes alone, of several programs."""
    env, params = jaxenv.make("LifeOps-v0")
    shapes = [jax.eval_shape(lambda: workload.generated(env, 8)) for _ in range(2)]
    one, other = workload.generated(env, 8), workload.generated(env, 8)
    assert jax.tree.structure(one) == jax.tree.structure(params.bank.scenarios)
    for expected in (*shapes, other):
        assert jax.tree.map(jnp.shape, one) == jax.tree.map(lambda leaf: leaf.shape, expected)
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_array_equal(a, b)
    assert jax.tree.leaves(one)[0].shape[0] == 8


def test_a_generated_bank_starts_episodes_as_training_does():
    """By start weights, which cost a read of their table where an episode starts."""
    env, params = jaxenv.make("LifeOps-v0")
    config = selection.config_of("LifeOps-v0", num_envs=8)
    trained = jax.eval_shape(lambda key: first_bank(key, config, env, params), jax.random.key(0))
    benchmarked = jax.eval_shape(workload.registered("LifeOps-v0", bank="generated").params).bank
    assert trained.start_table is not None
    assert jax.tree.structure(benchmarked) == jax.tree.structure(trained)
    assert workload.registered("LifeOps-v0").params().bank.start_table is None


@pytest.mark.slow
@pytest.mark.parametrize("id", ["LifeOps-v0", "TeamsClone-MultiAgent-v0"])
def test_training_and_rollout_are_traced_from_public_functions_alone(id):
    config = selection.config_of(id, num_envs=32)
    assert config.rollout.num_envs == 32
    for work, steps in (
        (selection.training(config), config.steps_per_superstep),
        (selection.acting(config), 32 * STEPS),
    ):
        params = work.params()
        carry = jax.eval_shape(work.start, jax.random.key(0), params)
        after, _ = jax.eval_shape(work.run, jax.random.key(0), carry, params)
        assert jax.tree.structure(after) == jax.tree.structure(carry)
        assert work.env_steps == steps
