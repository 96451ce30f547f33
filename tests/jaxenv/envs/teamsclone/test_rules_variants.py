"""Worked cases of docs/rules/teamsclone.md, sections 3 and 4: endings, and the variants of one agent row by row."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
from jaxenv.core import ScenarioBank
from jaxenv.envs.teamsclone.types import MAX_STEPS, NEVER
from reference.teamsclone_cases import BEN, CHAT, REPLY, SMALL, STAYS, calls, draws, initial, says, small
from reference.teamsclone_rules import Entry, amounts
from strategies.teamsclone_game import Game, made, program
from strategies.teamsclone_play import drawn

SECOND_AGENT = 32768  # a draw that names it, of two
ALL = list(range(114))


def go(channel):
    return Entry("switch", channel)


def weights_of(params):
    return {name: round(float(value), 6) for name, value in vars(params.weights).items()}


def in_table(variant):
    return {name: float(value) for name, value in amounts(variant, None, (1, 1, 0.5)).items()}


# --------------------------------------------------------------------------------------------- endings


@pytest.mark.parametrize("variant", ["classic", "multi_task"])
def test_ending_max_steps_100_by_default_and_no_other(variant):
    assert int(made(variant, 1)[1].max_steps_in_episode) == 100
    game = Game(variant=variant)
    game.wait(99)
    assert not game.env.is_truncated(game.state, game.params)
    step = game.play()
    assert (int(game.state.clock), step.terminated, step.truncated, step.success) == (100, False, True, None)
    assert game.mask() == ALL


def test_ending_max_steps_is_configurable_in_params():
    game = Game(max_steps_in_episode=3)
    assert [game.play().truncated for _ in range(3)] == [False, False, True]


def test_the_clock_ends_where_its_numbers_do_whatever_the_params_say():
    game = Game(max_steps_in_episode=1_000_000)
    game.state = game.state.replace(clock=jnp.int16(MAX_STEPS - 2))
    assert [game.play().truncated for _ in range(2)] == [False, True]
    assert int(game.state.clock) == MAX_STEPS == int(game.shown().max_steps)


@pytest.mark.parametrize(
    ("name", "value"),
    [("max_steps_in_episode", MAX_STEPS + 1), ("max_steps_in_episode", 0), ("call_rate", np.nan), ("quota_calls", -1)],
)
def test_params_with_numbers_out_of_bounds_are_refused(name, value):
    params = made("classic", 1)[1]
    params.validate()
    changed = params.replace(**{name: jnp.asarray(value, getattr(params, name).dtype)})
    kind = "finite" if name == "call_rate" else "whole"
    with pytest.raises(ValueError, match=f"{name} is .* expected a {kind} number within"):
        changed.validate()
    weights = params.weights.replace(send=jnp.float32(np.inf))
    with pytest.raises(ValueError, match=r"weights.send is inf"):
        params.replace(weights=weights).validate()


def test_ending_task_completion_is_told_apart_from_the_time_limit():
    game = Game(variant="mentions", schedule=[(0, 0, 0)], max_steps_in_episode=2)
    game.wait(1)
    step = game.play(REPLY)
    assert (step.terminated, step.truncated, step.success) == (True, True, True)
    assert game.mask() == ALL


def test_ending_manual_reset_starts_anew_from_any_state():
    game = Game(small(messages=[initial()]))
    first = jax.device_get(game.state)
    game.play(CHAT, world=calls(1))
    again = jax.device_get(program("none", 1)[1](jax.random.key(0), game.params, 0)[1])
    jax.tree.map(np.testing.assert_array_equal, again, first)


# -------------------------------------------------------------------------------------------- mentions


def test_variant_single_task_reward_1_0_per_mention_ours_with_the_penalties_and_spam_and_nothing_else():
    assert weights_of(made("mentions", 1)[1]) == in_table("mentions")
    game = Game(small(messages=[initial()]), variant="mentions", schedule=[(0, 0, 0), (49, 0, 0)])
    game.play(Entry("react", 0, 0))
    assert game.earns(REPLY) == {"mention_response": 1.0}  # timely, a message, a second act
    assert game.earns(go(1), world=calls(0)) == {}
    assert [game.earns(entry) for entry in (Entry("join", 0), CHAT, CHAT)] == [{}] * 3
    assert game.earns(CHAT) == {"spam": -0.5}
    for name, cost in (("empty_message", -0.2), ("invalid_channel", -0.3), ("invalid_action", -0.1)):
        assert game.earns(Entry(name)) == {name: cost}


def test_variant_single_task_ends_when_all_mentions_are_posted_and_none_pends():
    game = Game(variant="mentions", schedule=[(0, 0, 0), (3, 0, 0)])
    game.wait(1)
    step = game.play(REPLY)  # none pends, but one is still to come
    assert (step.terminated, step.success) == (False, False)
    game.wait(2)
    step = game.play(REPLY)
    assert (step.terminated, step.truncated, step.success) == (True, False, True)


def test_variant_single_task_a_missed_mention_ends_it_without_success():
    game = Game(variant="mentions", schedule=[(0, 1, 0), (1, 0, 0)])  # a window of five
    game.wait(2)
    assert not game.play(REPLY).terminated  # the one in channel 1 pends
    game.wait(2)
    step = game.play()
    assert (int(game.state.clock), step.terminated, step.success) == (6, True, False)


def test_ours_scheduled_mentions_are_posted_whatever_the_authors_presence_in_place_of_post_and_call():
    users = [SMALL["users"][0], {**SMALL["users"][1], "status": "offline"}]
    game = Game(small(users=users), variant="mentions", schedule=[(1, 2, BEN), (4, 0, 0)])
    game.play(world=says(0))
    game.play(world=draws(call=0, author=0, text=32768))
    (mention,) = game.kept(2)
    assert (mention.author, mention.text, mention.named, mention.posted) == (BEN, "mention 1", 0, 1)
    assert (len(game.kept(0)), game.of_channels("running")) == (1, [False] * 3)


def test_presence_moves_in_the_step_of_a_scheduled_mention():
    rows = {**STAYS, "available": [0, 0, 0, 1]}
    users = [{**user, "presence_transition": rows} for user in SMALL["users"]]
    game = Game(small(users=users), variant="mentions", schedule=[(0, 0, 0), (9, 0, 0)])
    game.wait(1)
    assert (game.presence, [m.text for m in game.kept()]) == (["offline"] * 2, ["mention 0"])


def test_ours_teammates_own_mentions_become_chatter():
    game = Game(variant="mentions", schedule=[(9, 0, 0)])
    game.play(world=says(0, "mention", text=1))
    (message,) = game.kept()
    assert (message.kind, message.text, message.named, message.pending) == ("chatter", "chatter 1", None, False)


def test_an_initial_mention_is_one_of_those_to_be_answered():
    game = Game(small(messages=[initial("b", kind="mention")]), variant="mentions", schedule=[(0, 0, 0)])
    game.wait(1)
    assert not game.play(REPLY).terminated
    game.wait(2)
    step = game.play()
    assert (step.terminated, step.success) == (True, False)


@functools.cache
def schedules(count=4096):
    """(workspace, time limit) -> NumPy schedules of as many resets."""
    env, params = made("mentions", 1)
    draw = jax.jit(jax.vmap(lambda key, params: env.init(key, params, 0).schedule, in_axes=(0, None)))

    def of(bank, time_limit):
        changed = params.replace(bank=bank.replace(shared=None), max_steps_in_episode=jnp.int32(time_limit))
        return jax.device_get(draw(jax.random.split(jax.random.key(1), count), changed))

    return of


@pytest.mark.parametrize("time_limit", [100, 21])
def test_ours_3_to_8_mentions_at_distinct_steps_of_the_first_half_are_drawn_at_reset(time_limit):
    bank = ScenarioBank(drawn(0, 3, 0.5)[jnp.array([1])])
    channels, users = int(bank.scenarios.num_channels[0]), int(bank.scenarios.num_users[0])
    found = schedules()(bank, time_limit)
    exists = found.step != NEVER
    numbers, shares = np.unique(exists.sum(1), return_counts=True)
    assert numbers.tolist() == [3, 4, 5, 6, 7, 8]
    assert np.abs(shares / 4096 - 1 / 6).max() < 0.03  # uniform: 5 standard deviations
    steps = found.step[exists]
    assert sorted(set(steps.tolist())) == list(range(time_limit // 2))
    counts = np.bincount(steps)
    assert counts.max() < 1.35 * counts.min()
    for row, mask in zip(found.step, exists, strict=True):
        assert len(set(row[mask].tolist())) == mask.sum()
    assert np.unique(found.channel).tolist() == list(range(channels))
    assert np.unique(found.author).tolist() == list(range(users))
    for column, number in ((found.channel, channels), (found.author, users)):
        assert np.abs(np.bincount(column.ravel()) / column.size - 1 / number).max() < 0.02


def test_other_variants_have_no_schedule():
    for variant, agents in (("classic", 1), ("multi_task", 1), ("multi_agent", 4)):
        env, params = made(variant, agents)
        state = jax.eval_shape(lambda env=env, params=params: env.init(jax.random.key(0), params, 0))
        assert state.schedule.step.size == 0


# ------------------------------------------------------------------------------------------ multi-task


def test_variant_multi_task_weighted_sum_of_mentions_meetings_and_exploration_ours_1_1_and_a_half():
    assert weights_of(made("multi_task", 1)[1]) == in_table("multi_task")
    game = Game(small(messages=[initial("b")]), variant="multi_task", call_rate=-1)
    game.play(world=says(0, "mention"))
    assert game.earns(REPLY) == {"mention_response": 0.5, "timely_response": 0.2}  # no send
    assert game.earns(Entry("react", 1, 0), world=calls(2)) == {"react": 0.025}
    assert game.earns(Entry("join", 2)) == {"join_call": 0.3}  # no presence
    assert game.earns(go(2)) == {"switch": 0.025}
    game.wait(6)
    assert game.earns(Entry("answer", 1)) == {"channel_engagement": 0.05}
    assert game.earns(Entry("empty_message")) == {"empty_message": -0.2}
    for _ in range(2):
        game.play(CHAT)
    assert game.earns(CHAT) == {"spam": -0.5}


def test_variant_multi_task_other_weights():
    weights = jaxenv.envs.teamsclone.reward.multi_task(2, 3, 1)
    found = {name: value for name, value in vars(weights).items() if value > 0}
    expected = {"mention_response": 1, "timely_response": 0.4, "join_call": 0.9}
    assert found == pytest.approx(expected | {"switch": 0.05, "react": 0.05, "channel_engagement": 0.1})


def test_ours_variant_multi_task_has_calls_at_a_rate_of_0_01_in_every_channel():
    params = made("multi_task", 1)[1]
    for number in range(params.bank.size):
        workspace = jax.device_get(params.workspace(jnp.int32(number)))
        channels = int(workspace.num_channels)
        assert workspace.call_rate.tolist() == [655] * channels + [0] * (8 - channels)  # floor(655.36 + 0.5)
    general = made("classic", 1)[1].workspace(jnp.int32(0)).call_rate
    assert general.tolist() == [98] * 5 + [0] * 3  # 0.0015, left to the document
