"""The codec: legal sets, encode and decode, observations, and the errors that it teaches with."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
import scenarios
from jaxenv.envs.lifeops import Limits
from jaxenv.wrappers import FlattenObservation

KEY = jax.random.key(0)
FIELDS = {"action_type", "request_id", "new_start_min", "new_end_min", "duration_min"}
KEYS = {
    "scenario_id",
    "persona",
    "calendar",
    "tasks",
    "current_request",
    "pending_request_count",
    "travel_times",
    "step_count",
    "max_steps",
    "day_of_week",
    "upcoming_requests_preview",
}


@pytest.fixture(scope="module", params=["LifeOps-v0", "LifeOps-Shaped-v0"])
def game(request: pytest.FixtureRequest):
    env, params = jaxenv.make(request.param)
    library = scenarios.load("lifeops")
    return env, params, library, scenarios.Codec(env, params, library)


step = functools.partial(jax.jit, static_argnums=0)(lambda env, *args: env.step_env(KEY, *args))


def start(game, id: str):
    env, params, library, _ = game
    return env.reset(KEY, params, library.index(id))[1]


def play(game, state, *acts: dict):
    env, params, _, codec = game
    for action in acts:
        index = codec.encode(state, action)
        _, state, *_ = step(env, state, index, params)
    return state


def test_legal_actions_are_the_mask(game) -> None:
    env, params, library, codec = game
    mask_of = jax.jit(env.action_mask)
    for id in library.ids:
        state = start(game, id)
        legal = codec.legal_actions(state)
        assert [index for index, _ in legal] == np.flatnonzero(mask_of(state, params)).tolist()
        assert [codec.encode(state, action) for _, action in legal] == [index for index, _ in legal]
        assert all(set(action) == FIELDS for _, action in legal)


def test_unused_fields_may_be_left_out(game) -> None:
    *_, codec = game
    state = start(game, "s1_basic_conflict")
    assert codec.encode(state, {"action_type": "reject_event", "request_id": "r1"}) == 1
    focus = {"action_type": "block_focus_time", "new_start_min": 540, "duration_min": 60}
    index = codec.encode(state, focus)
    assert codec.encode(state, focus | {"new_end_min": 600}) == index
    assert codec.decode(state, index) == focus | {"new_end_min": None, "request_id": None}


def test_an_action_can_be_a_record(game) -> None:
    *_, codec = game
    accept = scenarios.lifeops.Action(action_type="accept_event", request_id="r1")
    assert codec.encode(start(game, "easy_1"), accept) == 0


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ({"action_type": "acept_event"}, ["'accept_event'", "reject_event r1"]),
        ({"action_type": "accept_event", "request_id": "r9"}, ["Nearest: 'accept_event r1'"]),
        ({"action_type": "accept_event"}, ["not legal now", "accept_event r1"]),
        (
            {"action_type": "block_focus_time", "new_start_min": 545, "duration_min": 30},
            ["Nearest: 'block_focus_time 540 30'"],
        ),
        (
            {
                "action_type": "block_focus_time",
                "new_start_min": 540,
                "new_end_min": 599,
                "duration_min": 60,
            },
            ["not legal now"],
        ),
        ({"action_type": "reject_event", "request": "r1"}, ["'request'", "'request_id'"]),
        ({"request_id": "r1"}, ["'action_type' is missing"]),
        ({"action_type": "reject_event", "request_id": "r1", "duration_min": True}, ["duration_min"]),
    ],
)
def test_illegal_actions_teach(game, action: dict, words: list[str]) -> None:
    *_, codec = game
    with pytest.raises(scenarios.ScenarioError) as error:
        codec.encode(start(game, "s1_basic_conflict"), action)
    for word in (*words, "Legal actions: accept_event r1;"):
        assert word in str(error.value)
    assert "\n" not in str(error.value)


def test_indices_out_of_range_are_refused(game) -> None:
    env, _, _, codec = game
    for index in (-1, env.num_actions):
        with pytest.raises(scenarios.ScenarioError, match=f"0 to {env.num_actions - 1}"):
            codec.decode(start(game, "easy_1"), index)


def test_observation_of_a_day_in_progress(game) -> None:
    *_, codec = game
    focus = {"action_type": "block_focus_time", "new_start_min": 660, "duration_min": 60}
    reject = {"action_type": "reject_event", "request_id": "r_low"}
    accept = {"action_type": "accept_event", "request_id": "r_imp1"}
    morning = start(game, "edge_cascade_1")
    before, after = codec.observation(morning), codec.observation(play(game, morning, reject, focus, accept))
    assert set(before) == set(after) == KEYS
    assert [r["event_id"] for r in before["upcoming_requests_preview"]] == ["r_imp1", "r_imp2"]
    assert before["current_request"]["event_id"] == "r_low"
    assert [e["event_id"] for e in after["calendar"]] == ["e1", "e2", "e3", "focus_1", "r_imp1"]
    assert after["calendar"][3]["kind"] == "focus"
    assert after["calendar"][3]["location"] == "Office"
    assert after["calendar"][4]["flexible"] is False
    assert "flexible" not in after["calendar"][0]
    assert (before["tasks"][0]["remaining_minutes"], after["tasks"][0]["remaining_minutes"]) == (60, 0)
    assert (after["pending_request_count"], after["step_count"], after["max_steps"]) == (1, 3, 8)
    assert after["upcoming_requests_preview"] == []
    assert after["day_of_week"] == "Wednesday"
    assert after["travel_times"]["Home"]["School"] == 12
    assert after["persona"]["preferred_meeting_window"] == [540, 990]


def test_nothing_is_legal_after_the_end(game) -> None:
    *_, codec = game
    over = play(game, start(game, "easy_1"), {"action_type": "accept_event", "request_id": "r1"})
    assert codec.legal_actions(over) == []
    assert codec.observation(over)["current_request"] is None
    assert codec.decode(over, 0)["request_id"] is None
    with pytest.raises(ValueError, match="the episode has ended"):
        codec.encode(over, {"action_type": "accept_event", "request_id": "r1"})


def test_a_batch_is_refused(game) -> None:
    *_, codec = game
    states = jax.tree.map(lambda leaf: jnp.stack([leaf] * 3), start(game, "easy_1"))
    for speak in (codec.legal_actions, codec.observation):
        with pytest.raises(ValueError, match=r"batch of states \[3\]"):
            speak(states)


def test_another_bank_is_refused(game) -> None:
    env, params, *_ = game
    with pytest.raises(ValueError, match=r"not the bank of the library"):
        scenarios.Codec(env, params, scenarios.load("lifeops/easy_1"))


def test_wrapped_environments_and_other_limits() -> None:
    limits = Limits(events=64)
    env, params = jaxenv.make("LifeOps-v0", limits=limits)
    library = scenarios.load("lifeops")  # smaller arrays than those of env
    codec = scenarios.Codec(FlattenObservation(env), params, library)
    _, state = env.reset(KEY, params, 0)
    assert len(codec.legal_actions(state)) == 8
    assert [e["event_id"] for e in codec.observation(state)["calendar"]] == ["e1", "e2"]


def test_days_without_words_can_be_described() -> None:
    env, params = jaxenv.make("LifeOps-v0")
    codec = scenarios.Codec(env, params, scenarios.decompile("lifeops", params.bank))
    _, state = env.reset(KEY, params, 2)
    assert codec.observation(state)["scenario_id"] == "scenario_3"
    assert codec.legal_actions(state)[0][1]["request_id"] == "r1"
