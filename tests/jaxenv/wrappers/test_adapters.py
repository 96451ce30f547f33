"""The adapters that are subclasses of other packages' environments, and jaxenv without those packages."""

import importlib.util
import pydoc
import subprocess
import sys

import jax
import pytest

import jaxenv
from jaxenv import wrappers
from jaxenv.wrappers.adapters import one_agent, resolve

PEERS = ("dm_env", "gymnasium", "jumanji", "stable_baselines3")


def test_jaxenv_imports_none_of_them():
    program = f"import sys, jaxenv; print(sorted(set({PEERS}) & set(sys.modules)), *dir(jaxenv.wrappers))"
    printed = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    found, *names = printed.split()
    assert found == "[]"
    adapters = {name for name, (module, _) in wrappers._ADAPTERS.items() if importlib.util.find_spec(module)}
    assert {*adapters, "Wrapper"} <= set(names)


def test_help_leaves_out_what_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    assert {"Gymnasium", "SB3VecEnv"} & set(dir(wrappers)) == {"Gymnasium"}
    assert pydoc.render_doc(wrappers)


@pytest.mark.parametrize("name", wrappers._ADAPTERS)
def test_without_its_package_the_error_names_the_extra(name, monkeypatch):
    extra = wrappers._ADAPTERS[name][1]
    for module in list(sys.modules):
        if module.split(".")[0] in PEERS:
            monkeypatch.setitem(sys.modules, module, None)
    for package in PEERS:
        monkeypatch.setitem(sys.modules, package, None)
    for module in list(sys.modules):  # some import others of them
        if module in {f"jaxenv.wrappers.{each}" for each, _ in wrappers._ADAPTERS.values()}:
            monkeypatch.delitem(sys.modules, module)
    with pytest.raises(ImportError, match=rf"wrappers.{name} needs .*pip install '\.\[{extra}\]'"):
        getattr(wrappers, name)


def test_other_names_are_missing_as_in_any_module():
    with pytest.raises(AttributeError, match="no attribute 'DmEnf'"):
        _ = wrappers.DmEnf


def test_an_adapter_takes_an_id_or_an_environment():
    env, params = resolve("LifeOps-v0")
    assert env == jaxenv.make("LifeOps-v0")[0]
    other = params.replace(departure_min=jax.numpy.int32(60))
    same, kept = resolve(env, other)
    assert same is env
    assert kept is other
    with pytest.raises(ValueError, match="Did you mean 'LifeOps-v0'"):
        resolve("LifeOp-v0")
    with pytest.raises(TypeError, match=r"expected an id .* got \(LifeOps"):
        resolve((env, params))


def test_several_agents_are_too_many_for_one():
    env = jaxenv.make("TeamsClone-MultiAgent-v0", num_agents=2)[0]
    with pytest.raises(ValueError, match=r"DmEnv has one agent and TeamsClone-MultiAgent-v0 has 2; see .*JaxMARL"):
        one_agent(env, None, "DmEnv")
