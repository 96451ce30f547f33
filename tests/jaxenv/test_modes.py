"""Laws of every registered environment in JAX's modes: 64 bits, kinds of keys and actions, guards, meshes, exports.

Most are read off the traced program; what has to be compiled is played with one environment, and with all in
`make test-all`.
"""

import functools
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AbstractMesh, AxisType, PartitionSpec

import jaxenv
from jaxenv import wrappers
from strategies.ids import IDS

KEY = jax.random.key(0)
INTEGERS = ("int8", "uint32")
FIRST = "LifeOps-Shaped-v0"  # the quickest to compile
PLAYED = [pytest.param(id, marks=[] if id == FIRST else [pytest.mark.slow]) for id in jaxenv.registered()]

make = functools.cache(jaxenv.make)


def actions(env, dtype="int32", batch=()):
    """Shape and type of an action."""
    return jax.ShapeDtypeStruct((*batch, *agents(env)), jnp.dtype(dtype))


def agents(env):
    """The shape of an action."""
    return (env.num_agents,) if env.num_agents > 1 else ()


def types(tree):
    """The structure, and shape, type and weakness of every array."""
    leaves, structure = jax.tree.flatten(tree)
    return structure, [(leaf.shape, leaf.dtype, leaf.weak_type) for leaf in leaves]


def everything(env, key, action, params):
    """What an environment returns, of every method."""
    observation, state = env.reset_env(key, params, 0)
    parts = env.observe(state, params), env.action_mask(state, params), env.is_truncated(state, params)
    features = env.entities(observation, params), env.flatten(observation, params)
    drawn = env.generate(key, 0.5), env.mutate(key, params.bank[0])
    return env.reset(key, params), env.step(key, state, action, params), parts, features, drawn


@functools.cache
def first(env_id):
    """(observation, state, action) of the first turn, the first legal action of each agent."""
    env, params = make(env_id)
    observation, state = env.reset(KEY, params)
    return observation, state, jnp.argmax(observation.action_mask, axis=-1).astype(jnp.int32)


def play(env_id, key, steps=4):
    """Types and values of some turns."""
    env, params = make(env_id)
    result = env.reset(key, params)
    rows = [result]
    for number in range(steps):
        action = np.asarray(result[0].action_mask).argmax(axis=-1).astype(np.int32)
        result = env.step(jax.random.fold_in(key, number), result[1], action, params)
        rows.append(result)
    return jax.device_get(rows)


def assert_same(one, other):
    """Integers and bools to the bit, floats to the last digits."""
    assert jax.tree.structure(one) == jax.tree.structure(other)
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        assert a.dtype == b.dtype
        exact = not jnp.issubdtype(a.dtype, jnp.floating)
        np.testing.assert_allclose(a, b, rtol=0 if exact else 1e-5, atol=0 if exact else 1e-6)


# 64 bits --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", IDS)
def test_types_are_the_same_where_64_bits_are_enabled(env_id):
    env, params = make(env_id)
    expected = jax.eval_shape(functools.partial(everything, env), KEY, actions(env), params)
    with jax.enable_x64(True):
        found = jax.eval_shape(functools.partial(everything, env), KEY, actions(env, "int64"), params)
        made = jax.eval_shape(lambda: jaxenv.make(env_id)[1])
    assert types(found) == types(expected)
    assert types(made) == types(jax.eval_shape(lambda: params))


@pytest.mark.parametrize("env_id", PLAYED)
def test_episodes_are_the_same_where_64_bits_are_enabled(env_id):
    expected = play(env_id, KEY)
    with jax.enable_x64(True):
        assert_same(play(env_id, KEY), expected)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", IDS)
def test_scenarios_are_the_same_where_64_bits_are_enabled(env_id):
    env, _ = make(env_id)

    def drawn():
        scenario = jax.jit(env.generate)(KEY, jnp.float32(0.7))
        return scenario, jax.jit(env.mutate)(KEY, scenario)

    expected = drawn()
    with jax.enable_x64(True):
        assert_same(drawn(), expected)


# Actions and scenarios ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", jaxenv.registered())
def test_the_program_of_int32_actions_has_no_checks(env_id):
    """The integers reach the rules as they are."""
    env, _ = make(env_id)
    assert not jax.make_jaxpr(env._index)(actions(env)).eqns


@pytest.mark.parametrize("env_id", IDS)
def test_every_integer_type_is_an_action(env_id):
    env, params = make(env_id)
    _, state = jax.eval_shape(env.reset_env, KEY, params)
    expected = types(jax.eval_shape(env.step_env, KEY, state, actions(env), params))
    for dtype in INTEGERS:
        assert types(jax.eval_shape(env.step_env, KEY, state, actions(env, dtype), params)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("env_id", IDS)
def test_every_kind_of_number_is_the_same_action(env_id):
    env, params = make(env_id)
    _, state, action = first(env_id)
    expected = env.step(KEY, state, action, params)
    integers = [jnp.asarray(action, dtype) for dtype in ("int8", "int16", "uint8", "uint16", "uint32")]
    for kind in [*integers, np.asarray(action, np.int64), np.asarray(action).tolist()]:
        assert_same(env.step(KEY, state, kind, params), expected)


@pytest.mark.parametrize("env_id", PLAYED)
def test_an_action_beyond_32_bits_is_not_legal(env_id):
    """None of them is the action that its lowest 32 bits are, which is legal."""
    env, params = make(env_id)
    _, state, action = first(env_id)
    cut = np.asarray(action).astype(object)
    greatest, least = np.full(agents(env), 2**31 - 1, np.int32), np.full(agents(env), -(2**31), np.int32)
    too_great = [np.array(cut + 2**32, np.int64), np.array(cut + 2**63, np.uint64), np.array(cut + 2**32).tolist()]
    too_small = [np.array(cut - 2**32, np.int64), np.array(cut - 10**400).tolist()]
    for kinds, same in ((too_great, greatest), (too_small, least)):
        expected = env.step(KEY, state, same, params)
        assert jnp.all(expected[-1]["invalid_action"])
        for kind in kinds:
            assert_same(env.step(KEY, state, kind, params), expected)


@pytest.mark.parametrize("env_id", PLAYED)
def test_a_scenario_beyond_32_bits_is_the_last_or_the_first(env_id):
    env, params = make(env_id)
    for far in (np.int64(2**32), np.uint64(2**63), 2**32, 10**400, np.array(2**32)):
        assert int(env.reset(KEY, params, scenario=far)[1].scenario) == params.bank.size - 1
    for far in (np.int64(1 - 2**32), 1 - 2**32):
        assert int(env.reset(KEY, params, scenario=far)[1].scenario) == 0


@pytest.mark.parametrize("env_id", jaxenv.registered())
@pytest.mark.parametrize("wrap", [lambda env: env, wrappers.FlattenObservation, wrappers.LegacyStep])
def test_what_is_no_action_is_one_sentence(env_id, wrap):
    env, params = make(env_id)
    _, state = jax.eval_shape(env.reset_env, KEY, params)
    expected = f"{env_id} expects {f'integers of shape {list(agents(env))}' if agents(env) else 'an integer'}"
    zeros = np.zeros(agents(env), np.float32)
    for call in (wrap(env).step, wrap(env).step_env):

        def error_of(action, call=call):
            with pytest.raises(TypeError) as error:
                jax.eval_shape(functools.partial(call, KEY, action=action, params=params), state=state)
            return str(error.value)

        assert error_of(zeros) == f"action is of type float32, {expected}"
        assert error_of(zeros.astype(bool)) == f"action is of type bool, {expected}"
        assert error_of({"type": 1}) == f"action is of type dict, {expected}"
        assert error_of(np.zeros(3, int)) == f"action has shape (3,), {env_id} expects {list(agents(env))}"
        assert error_of("accept").startswith(f"action is 'accept', {env_id} expects ")


@pytest.mark.parametrize("env_id", jaxenv.registered())
def test_what_is_no_scenario_is_one_sentence(env_id):
    env, params = make(env_id)
    many = wrappers.Vectorize(env, 2)
    wrong = [
        ("lunch", "is 'lunch'", "an integer"),
        (np.float32(1), "is of type float32", "an integer"),
        (np.zeros(3, int), "has shape (3,)", "[]"),
    ]
    for scenario, found, expected in wrong:
        for reset in (env.reset, env.reset_env):
            with pytest.raises(TypeError) as error:
                reset(KEY, params, scenario)
            assert str(error.value) == f"scenario {found}, {env_id} expects {expected}"
    with pytest.raises(TypeError, match=r"^scenario has shape \(3,\), .* expects \[2\]"):
        many.reset(KEY, params, np.zeros(3, int))
    _, state = jax.eval_shape(many.reset, KEY, params)
    with pytest.raises(TypeError, match=r"^action has shape \(3,\), .* expects \[2"):
        jax.eval_shape(lambda state: many.step(KEY, state, np.zeros(3, int), params), state)


def test_another_argument_that_is_no_array_is_one_sentence():
    env, params = make(FIRST)
    with pytest.raises(TypeError, match=f"^params is 'easy', {FIRST} expects arrays$"):
        env.reset(KEY, "easy")
    with pytest.raises(TypeError, match=rf"^state\.clock is of type object, {FIRST} expects arrays$"):
        env.step(KEY, first(FIRST)[1].replace(clock=object()), 0, params)


@pytest.mark.parametrize("env_id", PLAYED)
def test_without_params_the_default_ones_are_taken(env_id):
    env, params = make(env_id)

    _, state = first = jax.eval_shape(env.reset, KEY, params)
    assert types(jax.eval_shape(env.reset, KEY)) == types(first)
    later = jax.eval_shape(env.step, KEY, state, actions(env), params)
    assert types(jax.eval_shape(env.step, KEY, state, actions(env))) == types(later)


def test_without_params_wrappers_take_the_default_ones():
    env = make(FIRST)[0]
    many = wrappers.Vectorize(wrappers.LegacyStep(env), 3)
    _, state = jax.eval_shape(many.reset, KEY)
    assert jax.eval_shape(many.step, KEY, state, actions(env, batch=(3,)))[3].shape == (3,)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", IDS)
def test_default_params_give_the_same_episode(env_id):
    env, params = make(env_id)
    _, state, action = first(env_id)
    assert_same(env.reset(KEY), env.reset(KEY, params))
    assert_same(env.step(KEY, state, action), env.step(KEY, state, action, params))


# Keys -----------------------------------------------------------------------------------------------------------------

KEYS = (jax.random.PRNGKey(0), jax.random.key(0, impl="rbg"))


@pytest.mark.parametrize("env_id", IDS)
def test_every_kind_of_key_draws(env_id):
    env, params = make(env_id)

    def of(key):
        first = jax.eval_shape(env.reset, key, params)
        return types((first, jax.eval_shape(env.step, key, first[1], actions(env), params)))

    expected = of(KEY)
    assert all(of(key) == expected for key in KEYS)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", IDS)
def test_legacy_keys_draw_the_same(env_id):
    assert_same(play(env_id, jax.random.PRNGKey(0)), play(env_id, KEY))


@pytest.mark.slow
@pytest.mark.parametrize("env_id", IDS)
def test_nothing_is_nan(env_id):
    env, params = make(env_id)
    step = jax.jit(env.step)
    with jax.debug_nans(True):
        observation, state = env.reset(KEY, params)
        for number in range(64):
            jax.block_until_ready(env.flatten(observation, params))
            action = np.asarray(observation.action_mask).argmax(axis=-1).astype(np.int32)
            observation, state, *_ = step(jax.random.fold_in(KEY, number), state, action, params)


# Transfers ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", jaxenv.registered())
def test_an_environment_is_made_under_a_transfer_guard(env_id):
    with jax.transfer_guard("disallow"):
        _, params = jaxenv.make(env_id)
    assert types(params) == types(make(env_id)[1])


@pytest.mark.parametrize("env_id", PLAYED)
def test_a_turn_moves_nothing_to_the_device(env_id):
    """A Python number is on the host, and JAX refuses to move it unasked."""
    env, params = make(env_id)
    action = first(env_id)[2]
    with jax.transfer_guard("disallow"):
        _, state = env.reset(KEY, params)
        env.step(KEY, state, action, params)
        with pytest.raises(jax.errors.JaxRuntimeError, match="transfer"):
            env.step(KEY, state, np.asarray(action), params)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", IDS)
def test_a_turn_of_a_wrapped_environment_moves_nothing_to_the_device(env_id):
    env, params = make(env_id)
    env = wrappers.EpisodeStatistics(wrappers.FlattenObservation(env))
    many, scenario, action = wrappers.Vectorize(env, 1), jnp.int32(0), first(env_id)[2]
    scenarios, joint = scenario[None], action[None]
    with jax.transfer_guard("disallow"):
        _, state = env.reset(KEY, params, scenario=scenario)
        env.step(KEY, state, action, params)
        _, state = many.reset(KEY, params, scenarios)
        many.step(KEY, state, joint, params)


# Meshes ---------------------------------------------------------------------------------------------------------------


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
    program = f"import test_modes; test_modes.compare_on_devices({env_id!r})"
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
