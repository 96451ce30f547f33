"""The examples run, in small, and do what they say."""

import ast
import dataclasses
import re
from pathlib import Path

import jax
import numpy as np
import offline
import own_environment
import own_network
import own_reward
import ppo
import pytest
import sweep

import jaxenv
from jaxenv import baselines
from jaxenv.core.terms import preset
from jaxenv.envs import lifeops
from jaxenv.testing import examine

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "examples").glob("*.py"))


@pytest.fixture(autouse=True)
def _promotes():
    """As a user runs them, and where nothing may be written."""
    with jax.numpy_rank_promotion("allow"):
        yield


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_first_line_says_how_an_example_is_run(path):
    text = path.read_text("utf-8")
    assert f"`python examples/{path.name}`" in text.splitlines()[0]
    main = next(node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == "main")
    assert len(main.args.args) == len(main.args.defaults)
    assert text.endswith('if __name__ == "__main__":\n    main()\n')
    assert text.count("\n") <= 300


@pytest.mark.slow
def test_ppo_learns(capsys):
    returns = ppo.main(total_steps=65_536, num_envs=64, minibatch_size=256)
    assert list(returns) == ["PPO", "Random", "Heuristic", "Careful"]
    assert min(returns["PPO"], returns["Heuristic"]) > returns["Random"] + 5
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 14
    assert lines[9].startswith("   65,536 steps  return ")


def test_ppo_stands_beside_the_baselines_of_its_environment(monkeypatch):
    env = own_environment.Gridworld()
    monkeypatch.setattr(jaxenv, "make", lambda id: (env, env.default_params))
    sizes = {"total_steps": 64, "num_envs": 8, "num_steps": 8, "minibatch_size": 64, "epochs": 1, "hidden": (8,)}
    assert list(ppo.main("Gridworld", **sizes)) == ["PPO", "Random"]


@pytest.mark.slow
def test_the_environment_is_learned():
    assert own_environment.main() > 0.5


def test_the_environment_keeps_the_contract():
    env = own_environment.Gridworld()
    assert not [verdict for verdict in examine(env, env.default_params) if verdict.status == "broken"]


def test_the_environment_has_fifty_lines():
    text = (ROOT / "examples" / "own_environment.py").read_text("utf-8")
    code, trains, _ = text.partition("\n\n\ndef main")
    assert trains
    tree = ast.parse(code)
    for node in [tree, *tree.body]:  # without docstrings
        if isinstance(node, (ast.Module, ast.ClassDef)) and ast.get_docstring(node):
            del node.body[0]
    assert "in fifty lines" in (ROOT / "docs" / "recipes.md").read_text("utf-8")
    assert 40 < len([line for line in ast.unparse(tree).splitlines() if line and line != "import train"]) <= 50


def test_the_training_page_quotes_the_examples():
    page = (ROOT / "docs" / "training.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    for name in ("own_environment", "own_network", "own_reward"):
        assert sum(block in (ROOT / "examples" / f"{name}.py").read_text("utf-8") for block in blocks) == 1
    assert all(f"(../examples/{path.name})" in page for path in FILES)


def test_the_readme_has_a_row_for_each_example():
    page = (ROOT / "examples" / "README.md").read_text("utf-8")
    for path in FILES:
        assert f"[{path.name}]({path.name})" in page
        assert f"`python examples/{path.name}`" in page


@pytest.mark.slow
def test_the_network_learns():
    outcome = own_network.main(total_steps=32_768)
    assert len(jax.tree.leaves(outcome.policy.weights)) == 8  # four layers
    assert outcome.metrics["return"][-1] > outcome.metrics["return"][0] + 5


def test_the_reward_pays_its_term():
    env = dataclasses.replace(lifeops.shaped(), weights=preset(own_reward.WithFreeAfternoons, "shaped"))
    params = env.default_params
    plain, plain_params = jaxenv.make("LifeOps-Shaped-v0")
    heuristic = baselines.for_environment(plain)["Heuristic"]
    nothing = jax.tree.map(np.zeros_like, params.weights)
    counts = params.replace(weights=nothing.replace(afternoon_penalty=np.float32(1.0)))
    meetings = jaxenv.evaluate(heuristic, env, counts).returns
    assert meetings.sum() > 0
    with_term, without = (jaxenv.evaluate(heuristic, *each).returns for each in ((env, params), (plain, plain_params)))
    np.testing.assert_allclose(with_term, without - 4.0 * meetings, atol=1e-4)


@pytest.mark.slow
def test_the_reward_changes_what_is_learned():
    found = own_reward.main(total_steps=16_384)
    assert found["-4.0"] < found["0.0"]


def test_an_episode_counts_by_what_it_earns_above_its_day():
    arrays = {"reward": np.array([1.0, 2.0, 5.0, 7.0]), "start": np.array([0, 2, 3]), "scenario": np.array([4, 4, 9])}
    np.testing.assert_array_equal(offline.advantages(arrays), [-1.0, 1.0, 0.0])


@pytest.mark.slow
def test_a_clone_takes_the_actions_that_it_was_shown():
    env, params = jaxenv.make("LifeOps-v0")
    states = jax.vmap(lambda key: env.reset(key, params))(jax.random.split(jax.random.key(0), 64))
    seen = jax.device_get(states[0])
    legal = [np.flatnonzero(mask) for mask in seen.action_mask]
    right = np.array([choices[0] for choices in legal], np.int32)
    policy = offline.clone(env, params, seen, right, updates=200)
    taken = jax.jit(jax.vmap(lambda one: policy(jax.random.key(0), one, params)))(seen)
    assert (np.asarray(taken) == right).mean() > 0.95


@pytest.mark.slow
def test_a_dataset_is_learned_from():
    returns = list(offline.main(episodes=4_000, updates=500, total_steps=65_536).values())
    assert returns[2] > returns[0]


@pytest.mark.slow
def test_a_sweep_has_a_row_for_each_value(capsys):
    table = sweep.main(total_steps=8_192, seeds=2)
    assert {rate: found.shape for rate, found in table.items()} == {"3e-4": (2,), "3e-3": (2,)}
    assert len(np.unique(np.concatenate(list(table.values())))) == 4
    assert len(capsys.readouterr().out.splitlines()) == 3
