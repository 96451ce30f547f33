"""Worked cases of docs/rules/teamsclone.md, section 3: the variant of several agents."""

import jax
import jax.numpy as jnp
import pytest

import jaxenv
from jaxenv.envs.teamsclone import reward
from reference.teamsclone_cases import CHAT, IDLE, REPLY, calls, initial, says, small
from reference.teamsclone_rules import Entry
from strategies.teamsclone_game import Game, made

SECOND_AGENT = 32768  # a draw that names it, of two
ALL = list(range(114))


def go(channel):
    return Entry("switch", channel)


def test_variant_multi_agent_of_n_agents_has_a_leading_axis_and_ends_that_are_shared():
    for agents in (2, 4):
        env, params = made("multi_agent", agents)
        state = jax.eval_shape(lambda env=env, params=params: env.init(jax.random.key(0), params, 0))
        action = jax.ShapeDtypeStruct((agents,), jnp.int32)
        observation, _, reward, ended, cut, info = jax.eval_shape(env.step, jax.random.key(0), state, action, params)
        assert (env.num_agents, reward.shape, ended.shape, cut.shape) == (agents, (agents,), (), ())
        assert (info["invalid_action"].shape, info["success"].shape) == ((agents,), ())
        assert (observation.action_mask.shape, observation.messages.text.shape) == ((agents, 114), (agents, 10))
    assert jaxenv.make("TeamsClone-MultiAgent-v0")[0].num_agents == 4
    with pytest.raises(ValueError, match="num_agents"):
        jaxenv.make("TeamsClone-MultiAgent-v0", num_agents=0)


def test_n_1_is_the_single_agent_environment_without_the_axis():
    env, params = jaxenv.make("TeamsClone-MultiAgent-v0", num_agents=1)
    assert isinstance(env.action_space(), jaxenv.core.spaces.Discrete)
    state = jax.eval_shape(lambda: env.init(jax.random.key(0), params, 0))
    observation, _, reward, *_ = jax.eval_shape(env.step, jax.random.key(0), state, jnp.int32(0), params)
    assert (reward.shape, observation.action_mask.shape, observation.channel.shape) == ((), (114,), ())
    assert observation.messages.text.shape == (10,)


def test_actions_of_several_agents_are_a_box_of_n_numbers():
    space = made("multi_agent", 2)[0].action_space()
    assert bool(space.contains(jnp.array([0, 113], jnp.int32)))
    assert not bool(space.contains(jnp.array([0, 114], jnp.int32)))


def test_ours_of_two_that_answer_in_one_step_the_lower_index_is_paid_whoever_is_named():
    game = Game(num_agents=2)
    game.play(world=says(0, "mention", mention=SECOND_AGENT))
    step = game.play(REPLY, REPLY)
    assert step.parts == [{"send": 0.1, "mention_response": 0.5, "timely_response": 0.2}, {"send": 0.1}]
    for name, expected in (("received", [0, 1]), ("answered", [1, 0]), ("missed", [0, 0])):
        assert [game.statistics(agent)[f"mentions_{name}"] for agent in (0, 1)] == expected


def test_the_one_that_comes_second_answers_no_other_mention():
    game = Game(num_agents=2)
    for _ in range(2):
        game.play(world=says(0, "mention"))
    assert "mention_response" not in game.play(REPLY, REPLY).parts[1]
    assert [message.pending for message in game.kept()[:2]] == [False, True]


def test_one_that_answers_nothing_leaves_the_first_message_to_the_other():
    game = Game(num_agents=2)
    game.play(world=says(0, "mention"))
    assert "mention_response" in game.play(IDLE, REPLY).parts[1]


def test_two_agents_answer_two_mentions_of_different_channels():
    game = Game(small(messages=[initial("b", kind="mention")]), num_agents=2)
    game.play(IDLE, go(1), world=says(0, "mention"))
    assert ["mention_response" in parts for parts in game.play(REPLY, REPLY).parts] == [True, True]


def test_messages_of_one_step_stand_in_agent_order_before_the_teammates():
    game = Game(num_agents=2)
    game.play(CHAT, CHAT, world=says(0))
    assert [message.author for message in game.kept()] == ["agent 0", "agent 1", 0]


@pytest.mark.parametrize(("share", "rewards"), [(0.0, [0.1, -0.2]), (0.5, [0.025, -0.125]), (1.0, [-0.05, -0.05])])
def test_variant_multi_agent_shared_or_individual_reward(share, rewards):
    game = Game(num_agents=2, shared_reward=share)
    step = game.play(CHAT, Entry("empty_message"))
    assert step.rewards == rewards
    assert [sum(parts.values()) for parts in step.parts] == pytest.approx(rewards)
    assert [game.statistics(agent)["total_reward"] for agent in (0, 1)] == rewards
    assert step.invalid == [False, True]
    if share == 0.5:
        assert step.parts == [{"send": 0.075, "empty_message": -0.05}, {"send": 0.025, "empty_message": -0.15}]


def test_variant_multi_agent_cooperative_task_completion_by_quotas_of_answers_and_joins():
    game = Game(num_agents=2, quota_mentions=1, quota_calls=2)
    game.play(world=says(0, "mention"))
    game.play(REPLY, world=calls(0))
    assert not game.play(Entry("join", 0)).terminated
    step = game.play(IDLE, Entry("join", 0))
    assert (step.terminated, step.truncated, step.success) == (True, False, True)
    assert game.mask(0) == game.mask(1) == ALL


def test_ours_both_quotas_are_wanted_and_default_to_4_and_n():
    game = Game(num_agents=2, quota_mentions=2, quota_calls=0)
    game.play(world=says(0, "mention"))
    assert not game.play(REPLY, world=says(0, "mention")).terminated
    assert game.play(IDLE, REPLY).terminated
    for agents in (2, 4):
        params = made("multi_agent", agents)[1]
        assert (int(params.quota_mentions), int(params.quota_calls), float(params.shared_reward)) == (4, agents, 0)


def of_v1(max_steps):
    """A game of two agents by the quota of MultiAgent-v1."""
    share = float(made("multi_agent_v1", 2)[1].quota_share)
    least = {"quota_mentions": 0, "quota_calls": 0}
    weights = {"quota": reward.QUOTA.quota}
    return Game(num_agents=2, weights=weights, quota_share=share, max_steps_in_episode=max_steps, **least)


def test_the_quota_of_v1_is_three_quarters_of_what_is_offered_and_pays_the_steps_that_are_left():
    env, params = jaxenv.make("TeamsClone-MultiAgent-v1")
    assert (env.num_agents, env.goal, env.weights) == (4, "quota", reward.CLASSIC.replace(quota=0.2))
    assert (float(params.quota_share), int(params.quota_mentions), int(params.quota_calls)) == (0.75, 0, 0)
    game = of_v1(max_steps=14)
    game.play(world=says(0, "mention"))
    game.play(world=says(0, "mention"))
    assert not game.play(REPLY).terminated
    game.wait(4)  # the second mention is missed
    game.wait(1, says(0, "mention"))
    assert not game.play(REPLY, world=says(0, "mention")).success  # two answered of four made
    step = game.play(IDLE, REPLY)
    assert (step.terminated, step.success, step.truncated) == (True, True, False)
    assert [parts["quota"] for parts in step.parts] == [0.8, 0.8]  # four steps are left


def test_the_quota_of_v1_is_not_met_where_nothing_was_offered_nor_before_the_middle():
    game = of_v1(max_steps=8)
    game.wait(5)
    assert not game.play().terminated
    game = of_v1(max_steps=8)
    game.play(world=says(0, "mention"))
    game.play(REPLY)
    assert not game.play().terminated
    assert game.play().parts[1] == {"quota": 0.8}  # all is answered, and the clock is 4


def test_the_quota_of_v1_wants_three_quarters_of_all_agents_to_join_what_has_begun():
    game = of_v1(max_steps=8)
    game.wait(2)
    game.play(world=calls(0))  # a call alone is an offer too
    assert not game.play(Entry("join", 0)).terminated  # one join of two, and the clock is 4
    assert game.play(IDLE, Entry("join", 0)).parts == [{"quota": 0.6}, {"join_call": 0.3, "quota": 0.6}]
