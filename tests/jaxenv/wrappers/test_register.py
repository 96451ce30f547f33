"""Our ids in the registrations of gymnax and JaxMARL."""

import importlib

import jax
import pytest
from counter import Counter, Counters

import jaxenv
from jaxenv import registry, wrappers

PEERS = "the extra `peers` is not installed"
gymnax = pytest.importorskip("gymnax", reason=PEERS)
SINGLE = [id for id in jaxenv.registered() if registry.build(id).num_agents == 1]
MULTI_AGENT = "TeamsClone-MultiAgent-v0"


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    monkeypatch.setattr(registry, "_FACTORIES", dict(registry._FACTORIES))


@pytest.fixture
def fresh(monkeypatch):
    """gymnax's registration as it is without us, put back afterwards."""
    registration = gymnax.registration
    theirs = {id: factory for id, factory in registration._registry.items() if id not in jaxenv.registered()}
    ids = list(theirs)
    monkeypatch.setattr(registration, "_registry", theirs)
    for module in (gymnax, registration):
        monkeypatch.setattr(module, "registered_envs", ids)
        monkeypatch.setattr(module, "make", registration.make)
    return registration


@pytest.fixture
def jaxmarl(monkeypatch):
    """JaxMARL with its registration as it is without us, put back afterwards."""
    package = pytest.importorskip("jaxmarl", reason=PEERS)
    registration = package.registration
    ids = [id for id in registration.registered_envs if id not in jaxenv.registered()]
    make = getattr(registration.make, "__wrapped__", registration.make)
    for module in (package, registration):
        monkeypatch.setattr(module, "registered_envs", ids)
        monkeypatch.setattr(module, "make", make)
    return package


@pytest.fixture
def before_1_0(fresh, monkeypatch):
    """gymnax as it was when it had no `register`."""
    monkeypatch.delattr(fresh, "register")
    return fresh


def test_gymnax_makes_every_environment_of_one_agent(fresh):
    wrappers.register_gymnax()
    for id in SINGLE:
        env, params = gymnax.make(id)
        expected, defaults = jaxenv.make(id)
        assert env == wrappers.Gymnax(expected, steps=6)
        assert jax.tree.structure(params) == jax.tree.structure(defaults)
    assert gymnax.registered_envs[-len(SINGLE) :] == SINGLE
    assert MULTI_AGENT not in gymnax.registered_envs


def test_gymnax_passes_arguments_on(fresh):
    wrappers.register_gymnax()
    limits = jaxenv.envs.lifeops.Limits(events=40)
    assert gymnax.make("LifeOps-v0", limits=limits)[0].env.limits == limits


def test_the_last_call_says_how_many_values_a_step_has(fresh):
    wrappers.register_gymnax()
    wrappers.register_gymnax(steps=5)
    assert gymnax.make("LifeOps-v0")[0] == wrappers.Gymnax(jaxenv.make("LifeOps-v0")[0], steps=5)
    wrappers.register_gymnax()
    assert gymnax.make("LifeOps-v0")[0].steps == 6
    with pytest.raises(ValueError, match="expected 6 values, or 5"):
        wrappers.register_gymnax(steps=4)
    assert gymnax.make("LifeOps-v0")[0].steps == 6


def test_what_gymnax_does_of_its_own_stays(fresh):
    before, theirs = list(gymnax.registered_envs), gymnax.make
    wrappers.register_gymnax()
    wrappers.register_gymnax()
    assert gymnax.registered_envs == [*before, *SINGLE]
    assert gymnax.make is theirs
    env, params = gymnax.make("CartPole-v1")
    assert (env.name, params.max_steps_in_episode) == ("CartPole-v1", 500)
    for unknown in ("CartPole-v7", MULTI_AGENT):
        with pytest.raises(ValueError, match=f"^{unknown} is not in registered gymnax environments.$"):
            gymnax.make(unknown)


def test_a_later_call_adds_what_was_registered_since(fresh):
    wrappers.register_gymnax()
    jaxenv.register("Counter-v0", Counter)
    jaxenv.register("Counters-v0", Counters)
    jaxenv.register("CartPole-v1", Counter)
    wrappers.register_gymnax()
    assert gymnax.make("Counter-v0")[0].env == Counter()
    assert "Counters-v0" not in gymnax.registered_envs
    assert gymnax.registered_envs.count("CartPole-v1") == 1
    assert gymnax.make("CartPole-v1")[0].num_actions == 2


def test_a_gymnax_without_register_makes_them_as_well(before_1_0):
    before, theirs = list(gymnax.registered_envs), gymnax.make
    wrappers.register_gymnax(steps=5)
    wrappers.register_gymnax(steps=5)
    assert gymnax.registered_envs == before_1_0.registered_envs == [*before, *SINGLE]
    assert gymnax.make is before_1_0.make
    assert gymnax.make.__wrapped__ is theirs  # once
    env, params = gymnax.make("LifeOps-v0")
    assert env.steps == 5
    assert params.max_steps_in_episode == jaxenv.make("LifeOps-v0")[1].max_steps_in_episode
    assert gymnax.make("CartPole-v1")[0].name == "CartPole-v1"
    with pytest.raises(ValueError, match=r"^CartPole-v7 is not in registered gymnax environments.$"):
        gymnax.make("CartPole-v7")


def test_their_log_wrapper_steps_what_gymnax_makes(fresh):
    wrappers.register_gymnax()
    env, params = gymnax.make("LifeOps-v0")
    theirs = importlib.import_module("gymnax.wrappers")
    env = theirs.LogWrapper(theirs.FlattenObservationWrapper(env))
    with jax.numpy_dtype_promotion("standard"):
        _, state = jax.eval_shape(env.reset, jax.random.key(0), params)
        *_, info = jax.eval_shape(env.step, jax.random.key(0), state, 0, params)
    assert {"returned_episode_returns", "final_observation", "reward_parts"} <= set(info)


def test_jaxmarl_makes_every_environment(jaxmarl):
    before, theirs = list(jaxmarl.registered_envs), jaxmarl.make
    wrappers.register_jaxmarl()
    wrappers.register_jaxmarl()
    assert jaxmarl.registered_envs == jaxmarl.registration.registered_envs == [*before, *jaxenv.registered()]
    assert jaxmarl.make is jaxmarl.registration.make
    assert jaxmarl.make.__wrapped__ is theirs  # once
    for id in jaxenv.registered():
        env = jaxmarl.make(id)
        assert isinstance(env, wrappers.JaxMARL)
        assert env.name == id
    two = jaxmarl.make(MULTI_AGENT, num_agents=2)
    assert two.agents == ["agent_0", "agent_1"]
    observations, _ = jax.eval_shape(two.reset, jax.random.key(0))
    assert {agent: vector.shape for agent, vector in observations.items()} == {
        agent: two.observation_space(agent).shape for agent in two.agents
    }


@pytest.mark.slow
def test_what_jaxmarl_does_of_its_own_stays(jaxmarl):
    wrappers.register_jaxmarl()
    assert jaxmarl.make("MPE_simple_spread_v3", num_agents=2).num_agents == 2
    with pytest.raises(ValueError, match=r"^simple is not in registered jaxmarl environments.$"):
        jaxmarl.make("simple")
    jaxenv.register("Counters-v0", Counters)
    wrappers.register_jaxmarl()
    assert jaxmarl.make("Counters-v0").env == Counters()
    assert jaxmarl.make(MULTI_AGENT).num_agents == 4


@pytest.mark.parametrize("register", [wrappers.register_gymnax, wrappers.register_jaxmarl])
def test_without_the_suite_the_error_names_the_extra(register, monkeypatch):
    find = importlib.import_module

    def missing(name):
        if name.startswith("jaxenv"):
            return find(name)
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ImportError, match=rf"^{register.__name__} needs \w+: .*pip install '\.\[peers\]'"):
        register()
