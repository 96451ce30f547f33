"""Pages of results are of the scenarios of today, and the released policies earn what RESULTS.md says."""

import types
from pathlib import Path

import jax
import numpy as np
import pytest

import jaxenv
from jaxenv.policies import released
from lab.results import command, measure
from lab.results.agents import LEARNERS, since
from train.protocol import shipped
from train.protocol.score import LIBRARY
from train.protocol.scoring import LIBRARY_EPISODES, marks_of
from train.score.held_out import held_out
from train.settings import presets
from train.settings.serialize import from_json

ROOT = Path(__file__).resolve().parents[3]
RESULTS, POLICIES = ROOT / "leaderboard", Path(jaxenv.policies.__file__).parent
MEASURED = [env_id for env_id in jaxenv.registered() if [*RESULTS.glob(env_id), *RESULTS.glob(f"1M/{env_id}")]]
SAME = 0.97  # of the episodes: another chip may choose otherwise where two actions are as good


def slow_but(env_id, ids):
    """The ids, all but one of them slow."""
    return [id if id == env_id else pytest.param(id, marks=pytest.mark.slow) for id in ids]


@pytest.mark.smoke
@pytest.mark.parametrize("env_id", slow_but("LifeOps-Shaped-v0", released()))
def test_a_released_policy_earns_what_was_measured(env_id):
    measured, seed = measure.of_policy(RESULTS, env_id, POLICIES / f"{env_id}.msgpack")
    env, params = jaxenv.make(env_id)
    sets = held_out(env, params)
    policy = jaxenv.load_policy(env, params)
    for name in ("hard", "shifted"):
        found = jaxenv.evaluate(policy, env, sets[name], key=jax.random.key(seed)).returns[:, 0]
        assert np.isclose(found, measured.returns[name][seed], atol=1e-3).mean() >= SAME, name
    library = params.replace(bank=shipped.library_for(env).bank)
    found = jaxenv.evaluate(policy, env, library, key=jax.random.key(seed), repetitions=LIBRARY_EPISODES).returns
    assert found.mean() == pytest.approx(measured.returns[LIBRARY][seed].mean(), rel=1 - SAME)


@pytest.mark.parametrize("env_id", slow_but("LifeOps-Shaped-v0", MEASURED))
def test_what_is_published_was_measured_on_the_scenarios_of_today(env_id):
    env, params = jaxenv.make(env_id)
    marks = marks_of(env, params)
    for folder in (RESULTS, RESULTS / "1M"):
        for agent, measured in measure.load_all(folder, env_id).items():
            assert command.is_current(measured, marks, env, params), (folder.name, agent)


@pytest.mark.parametrize("env_id", MEASURED)
def test_what_is_published_was_trained_with_the_presets_of_today_or_its_page_says_since_when(env_id):
    """All agents of a page by the same preset: an earlier one changed no more in one of them than in PPO."""
    env, _ = jaxenv.make(env_id)
    for folder, page in ((RESULTS, ROOT / "RESULTS.md"), (RESULTS / "1M", RESULTS / "1M" / "README.md")):
        section = page.read_text("utf-8").partition(f"\n## {env_id}\n")[2].partition("\n## ")[0]
        measured = measure.load_all(folder, env_id)
        then = {agent: each.about["asked"]["settings"] for agent, each in measured.items() if agent in LEARNERS}
        changed = {agent: since(from_json(settings), env, agent) for agent, settings in then.items()}
        if changed:
            assert (f"**earlier preset**: {changed['PPO']}.\n" in section) == bool(changed["PPO"])
            assert all(set(each.split(", ")) <= set(changed["PPO"].split(", ")) for each in changed.values() if each)
            assert changed["PPO"] or not any(changed.values())


@pytest.mark.parametrize("env_id", MEASURED)
def test_agents_of_a_page_trained_for_as_many_steps(env_id):
    whole = presets.for_environment(env_id).total_steps
    for folder, least in ((RESULTS, whole), (RESULTS / "1M", 1_000_000)):
        measured = measure.load_all(folder, env_id)
        steps = {each.about["env_steps"] for agent, each in measured.items() if agent in LEARNERS}
        assert len(steps) <= 1, (folder.name, steps)  # none where no agent has learned yet
        assert all(least <= each < least + 100_000 for each in steps)  # whole supersteps


def test_an_environment_without_a_trained_policy_says_who_has_one():
    message = "no trained policy of Other-v0 comes with the package.*LifeOps-Shaped-v0"
    with pytest.raises(ValueError, match=message):
        jaxenv.load_policy(types.SimpleNamespace(name="Other-v0"), None)
