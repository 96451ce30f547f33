"""The history of mentions, calls and messages: it must be what the engine counted."""

import jax
import numpy as np
import pytest

import jaxenv
from jaxenv import baselines, rendering
from jaxenv.envs.teamsclone.view import history
from jaxenv.envs.teamsclone.view.history import ANSWERED, MISSED, MentionOutcome
from strategies.teamsclone_chats import BACK, HALL, IDLE, PHONE, go, play, visit

STEPS = 60


def posts_by(found, step):
    """The posts of one step."""
    return [post for post in found.posts if post.step == step]


def test_the_history_of_a_visit():
    found = history.history_of(visit().states)
    assert found.outcomes == {
        (HALL, 1): MentionOutcome(ANSWERED, 1, 0),
        (BACK, 1): MentionOutcome(MISSED, 3, -1),
    }
    assert found.calls == ((PHONE, 0, 2), (PHONE, 3, 5))
    assert found.paths[:, 0].tolist() == [HALL] * 5 + [BACK] * 2
    assert [len(posts_by(found, step)) for step in range(-1, 6)] == [4, 1, 1, 0, 1, 0, 1]


def test_how_a_mention_ended_is_known_only_afterwards():
    found = history.history_of(visit().states)
    assert found.outcome((HALL, 1), 1) is None
    assert found.outcome((HALL, 1), 2) == MentionOutcome(ANSWERED, 1, 0)
    assert found.outcome((HALL, 0), 6) is None


def test_states_that_do_not_follow_each_other_show_no_ends():
    found = history.history_of(visit().states[::3])
    assert found.outcomes == {}
    assert len(found.posts) == 8


def test_a_mention_is_never_ended_twice():
    found = history.history_of(play(go(BACK), IDLE, IDLE, IDLE, IDLE).states)
    assert sorted(outcome.how for outcome in found.outcomes.values()) == [MISSED, MISSED]


@pytest.mark.slow
@pytest.mark.parametrize(("id", "seed"), [("TeamsClone-MultiAgent-v0", 0), ("TeamsClone-Mentions-v0", 1)])
def test_mentions_and_messages_are_those_that_the_engine_counts(id, seed):
    env, params = jaxenv.make(id)
    params = params.replace(max_steps_in_episode=np.int32(STEPS), quota_mentions=np.int32(1000))
    policy = jax.jit(baselines.random_policy)
    episode = rendering.record(env, params, policy, jax.random.key(seed), agent=env.num_agents - 1)
    found, counts = history.history_of(episode.states), episode.states[-1].counts
    for agent in range(env.num_agents):
        answered = [outcome for outcome in found.outcomes.values() if outcome.how == ANSWERED and outcome.by == agent]
        assert len(answered) == counts.answered[agent]
        named = [post for post in found.posts if post.named == agent]
        assert len(named) == counts.received[agent]
        missed = [
            post
            for post in named
            if found.outcomes.get((post.channel, post.serial), MentionOutcome("", 0, 0)).how == MISSED
        ]
        assert len(missed) == counts.missed[agent]
        sent = [post for post in found.posts if post.author == env.limits.users + agent]
        assert len(sent) == counts.sent[agent]
    assert sum(post.author < env.limits.users for post in found.posts) == episode.states[-1].by_teammates
    assert sum("answered: " in line for step in episode.steps for line in step.effects) >= counts.answered[-1]
