"""The examples in docstrings give what they print, and the names that people type first have one."""

import doctest
import importlib.util
import inspect
from pathlib import Path

import pytest

import jaxenv
import scenarios
import train
from jaxenv import baselines, registry, testing, wrappers
from jaxenv.core.types import StatefulPolicy

ROOT = Path(__file__).parents[1]
# All modules in one file, so that one process compiles what their examples share.
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for package in ("jaxenv", "scenarios", "train", "lab")
    for path in sorted((ROOT / package).rglob("*.py"))
    if ">>> " in path.read_text()
]
# Modules whose examples, and adapters whose base classes, are of packages that need not be installed.
NEEDED = {
    "jaxenv.wrappers.dm_env": "dm_env",
    "jaxenv.wrappers.gymnasium": "gymnasium",
    "jaxenv.wrappers.gymnax": "gymnax",
    "jaxenv.wrappers.jaxmarl": "jaxmarl",
    "jaxenv.wrappers.jumanji": "jumanji",
    "jaxenv.wrappers.stable_baselines3": "stable_baselines3",
}
ON_DEMAND = [
    getattr(wrappers, name)
    for name, (module, _) in wrappers._ADAPTERS.items()
    if importlib.util.find_spec(NEEDED[f"jaxenv.wrappers.{module}"])
]
BANK = [getattr(jaxenv.ScenarioBank, name) for name in ("stack", "with_start_weights", "split", "concatenate", "save")]
WRAPPERS = [
    wrapper
    for wrapper in vars(wrappers).values()
    if inspect.isclass(wrapper)
    and wrapper.__module__.startswith("jaxenv.")
    and wrapper not in (wrappers.EpisodeSummary, wrappers.FlatObservation)  # records
]
EXPORTED = [
    public
    for package in (scenarios, train)
    for public in vars(package).values()
    if callable(public) and public.__module__.startswith(f"{package.__name__}.")
]
PUBLIC = [
    *(jaxenv.make, jaxenv.register, jaxenv.registered, jaxenv.evaluate, jaxenv.Environment, jaxenv.ScenarioBank),
    *(*BANK, *WRAPPERS, *ON_DEMAND, *EXPORTED),
    *(wrappers.summarize, wrappers.register_gymnax, wrappers.register_jaxmarl),
    *(jaxenv.masking.sample_uniform, jaxenv.masking.mask_logits, jaxenv.masking.lexicographic_argmin),
    *(jaxenv.spaces.Discrete, jaxenv.spaces.Box, jaxenv.spaces.Record, StatefulPolicy),
    *(baselines.for_environment, baselines.random_policy, baselines.Myopic, testing.check_environment, testing.examine),
    *(scenarios.lifeops.LifeOpsEnv, scenarios.lifestack.LifeStackEnv, scenarios.teamsclone.TeamsEnvClient),
]


def is_slow(name):
    """Whether its examples train, score or solve: they take long, and other tests run the same code."""
    slow = ("train.ppo", "train.pqn", "train.dqn", "train.networks", "train.score", "train.planning", "lab.solvers")
    return name.startswith(slow)


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * is_slow(name)) for name in MODULES])
def test_the_examples_of_a_module_give_what_they_print(name, monkeypatch):
    monkeypatch.setattr(registry, "_FACTORIES", dict(registry._FACTORIES))  # an example may register an environment
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    module = importlib.import_module(name)
    if name == "jaxenv.wrappers.jaxmarl":
        importlib.import_module("jaxmarl")  # the first import prints lines, which are no part of an example
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    report = []
    for examples in doctest.DocTestFinder().find(module, name):
        runner.run(examples, out=report.append)
    assert runner.tries
    assert not runner.failures, "".join(report)


@pytest.mark.parametrize("public", PUBLIC, ids=lambda public: public.__qualname__)
def test_a_public_name_has_an_example(public):
    assert ">>> " in public.__doc__
