"""Episodes in words: the rewards are those of the arrays, and no answer stops one."""

import json
import re

import hypothesis
import jax
import numpy as np
import pytest
from hypothesis import strategies as st

import jaxenv
import scenarios
from jaxenv import baselines
from jaxenv.core.terms import rows
from jaxenv.envs.lifeops import Limits
from jaxenv.evaluation import in_state
from scenarios import TextEnv
from scenarios.text_env import next_keys
from strategies.ids import IDS

ID = "LifeOps-v0"


@pytest.fixture(scope="module")
def shared() -> TextEnv:
    return TextEnv(ID, "s1_basic_conflict")


@pytest.fixture
def env(shared: TextEnv) -> TextEnv:
    """At the start of an episode."""
    shared.reset()
    return shared


def test_the_situation_and_the_legal_actions_are_told(env: TextEnv) -> None:
    text = env.reset()
    for words in (
        "A day of meeting requests",
        "s1_basic_conflict · Wednesday · step 0 of 6",
        "Escalation with the customer",
        "the day begins at Home",
        "1  reject Escalation with the customer  ",
        '{"action_type": "reject_event", "request_id": "r1"}',
    ):
        assert words in text
    library = scenarios.load("lifeops")
    bare, params = jaxenv.make(ID)
    _, state = bare.reset(jax.random.key(0), params, library.index("s1_basic_conflict"))
    legal = scenarios.Codec(bare, params, library).legal_actions(state)
    assert env.legal_actions == dict(legal)
    assert [int(line.split()[0]) for line in text.partition("Actions")[2].splitlines()[1:]] == list(env.legal_actions)


@pytest.mark.parametrize("form", [1, "1", {"action_type": "reject_event", "request_id": "r1"}])
def test_the_same_action_in_every_form(env: TextEnv, form) -> None:
    text, reward, done, info = env.step(form)
    assert text.splitlines()[1].startswith("reject Escalation with the customer: ")
    assert reward == pytest.approx(sum(info["reward_parts"].values()))
    assert info["reward_parts"]["rejected_important_penalty"] == reward < 0
    assert (done, info["error"], info["step_taken"], info["invalid_action"]) == (False, None, True, False)
    assert "step 1 of 6" in text


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("what now?", "found no action in the answer"),
        (400, "no action 400, expected an index from 0 to 15."),
        ({"action_type": "acept_event"}, "Did you mean 'accept_event'?"),
        ({"action_type": "accept_event", "request_id": "r9"}, "Nearest: 'accept_event r1'"),
        ({"action_type": "accept_event", "request_id": "\ud800"}, "text with half a character"),
        ({1: 2}, "found 1 as a key, expected text"),
    ],
)
def test_what_names_no_action_takes_no_step(env: TextEnv, answer, reason: str) -> None:
    text, reward, done, info = env.step(answer)
    assert reason in text.splitlines()[0]
    assert text.splitlines()[0].endswith("No step was taken.")
    assert "1  reject Escalation" in text
    assert (reward, done, info["step_taken"]) == (0.0, False, False)
    assert info["error"] == text.splitlines()[0]
    text.encode()
    assert "step 1 of 6" in env.step(0)[0]  # the first one


@pytest.mark.parametrize("form", [8, {"action_type": "block_focus_time", "new_start_min": 540, "duration_min": 30}])
def test_an_illegal_action_costs_what_it_costs_in_arrays(form) -> None:
    env = TextEnv(ID, "easy_1")  # a day without work, so that there is nothing to focus on
    env.reset()
    text, reward, done, info = env.step(form)
    assert "not legal now" in text.splitlines()[0] == info["error"]
    assert (done, info["step_taken"], info["invalid_action"]) == (False, True, True)
    assert info["reward_parts"]["invalid_action"] == reward < 0
    assert "step 1 of 6" in text
    assert list(env.legal_actions) == list(range(8))


def test_nothing_is_taken_before_and_after_an_episode(env: TextEnv) -> None:
    for game in (TextEnv(ID), env):
        while not game.is_over:
            text, *_, info = game.step(0)
            assert ("Actions" in text) == (not game.is_over)
        text, reward, done, info = game.step(0)
        assert text == info["error"] == "no episode is running: reset begins one."
        assert (reward, done, game.legal_actions) == (0.0, True, {})


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("LifeOp-v0",), "Did you mean 'LifeOps-v0'?"),
        ((None,), "expected the name of an environment"),
        ((ID, "easy_3"), "Did you mean"),
        ((ID, 12), "an index from 0 to 11"),
        ((ID, -1), "an index from 0 to 11"),
        ((ID, True), "an index from 0 to 11"),
        ((ID, None, -1), "a whole number from 0 to 4294967295"),
        ((ID, None, 2**32), "a whole number from 0 to 4294967295"),
        ((ID, None, "1"), "a whole number from 0 to 4294967295"),
    ],
)
def test_what_cannot_be_played_is_refused(arguments: tuple, reason: str) -> None:
    with pytest.raises(scenarios.ScenarioError, match=reason):
        TextEnv(*arguments)


def test_a_library_of_ones_own_is_played_with_its_capacities(tmp_path) -> None:
    document = scenarios.load("lifeops").documents[0].plain() | {"scenario_id": "mine"}
    (tmp_path / "mine.json").write_text(json.dumps(document))
    limits = Limits(events=36)
    mine = scenarios.load(tmp_path, limits=limits)
    game = TextEnv(ID, "mine", library=mine)
    text = game.reset()
    shipped = TextEnv(ID, 0)
    assert text.partition("mine")[2] == shipped.reset().partition(shipped._codec.library.ids[0])[2]
    assert game.step("0")[1] == shipped.step("0")[1]
    with pytest.raises(scenarios.ScenarioError, match="cannot play this library, which holds lifeops"):
        TextEnv("LifeStack-v0", library=mine)
    with pytest.raises(scenarios.ScenarioError, match=r"expected one of scenarios\.load"):
        TextEnv(ID, library="mine")  # pyright: ignore[reportArgumentType]


def test_of_several_agents_the_first_is_played_and_the_others_follow_the_rule() -> None:
    id = "TeamsClone-MultiAgent-v1"
    game, (env, params) = TextEnv(id, 0, seed=4), jaxenv.make(id)
    params = params.replace(bank=scenarios.load("teamsclone").bank)
    rule = baselines.for_environment(env)["Rule-based"]
    start, act = in_state(rule, env)
    game.reset()
    state = game.snapshot().situation.state
    step, seen = jax.jit(env.transition), set()
    for turn in range(12):
        key = next_keys(game.snapshot().key)[1]
        others, _ = act(key, state, params, start)  # this rule draws nothing
        number = list(game.legal_actions)[turn % len(game.legal_actions)]
        state, rewards, *_ = step(key, state, others.at[0].set(number), params)
        assert game.step(number)[1] == float(rewards[0])
        seen |= set(np.asarray(rewards).tolist())
    assert len(seen) > 3
    with pytest.raises(scenarios.ScenarioError, match="credit is for one"):
        TextEnv(id, credit=scenarios.Credit())


@hypothesis.settings(max_examples=25)
@hypothesis.given(
    st.one_of(
        st.text(max_size=40),
        st.integers(-3, 20),
        st.recursive(st.none() | st.integers() | st.floats() | st.text(max_size=5), st.lists, max_leaves=3),
        st.dictionaries(
            st.sampled_from(["action_type", "request_id", "new_start_min", "duration_min", "x"]),
            st.sampled_from(
                ["accept_event", "block_focus_time", "r1", 540, -1, 1e300, float("nan"), None, [], {}, "\ud800"]
            ),
        ),
    )
)
def test_no_answer_stops_an_episode(shared: TextEnv, answer) -> None:
    if shared.is_over:
        shared.reset()
    text, reward, done, info = shared.step(answer)
    assert np.isfinite(reward)
    assert done == shared.is_over
    assert info["step_taken"] or info["error"]
    text.encode()


@pytest.mark.parametrize("id", IDS)
def test_the_prompt_says_what_pays_and_when_it_ends(id: str) -> None:
    """The weight of each term that is not zero, with its size, and no other number."""
    env = TextEnv(id, 0)
    purpose = env.reset().partition("\n\n")[0]
    told = dict(re.findall(r"([a-z ]+) ([0-9.]+)[,.](?: |$)", purpose.partition("by weight: ")[2]))
    weights = jaxenv.make(id)[1].weights
    terms = [name for name, row in rows(type(weights)).items() if row.pays is not None]
    sizes = {name.replace("_", " "): abs(float(getattr(weights, name))) for name in terms}
    expected = {name: size for name, size in sizes.items() if size}
    assert {name.strip(): float(weight) for name, weight in told.items()} == pytest.approx(expected, abs=1e-3)
    assert re.search(r" ends? ", purpose)
