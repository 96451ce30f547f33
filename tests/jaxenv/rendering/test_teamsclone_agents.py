"""Several agents in one workspace: the view of each, the actions of all in words, and who plays."""

import jax
import numpy as np
import pytest

import jaxenv
from jaxenv import baselines, rendering
from jaxenv.envs import teamsclone
from strategies.ink import written
from strategies.teamsclone_chats import BACK, DESK, ENV, HALL, IDLE, PHONE, REPLY, go, join, play, react

pytestmark = pytest.mark.slow

PAIR = teamsclone.multi_agent(2)
HERE = {"channel": "hall", "user": "ada", "kind": "mention", "text": "And you?", "agent": 1}
SHARED = DESK | {"messages": [*DESK["messages"][:2], HERE, *DESK["messages"][2:]]}


def together(agent=0):
    """Agent 0 answers in the hall, while agent 1 goes to the back and joins the call."""
    chosen = (IDLE, go(BACK), REPLY, react(0, 1), IDLE, join(PHONE))
    return play(*chosen, env=PAIR, document=SHARED, agent=agent)


def test_each_agent_sees_its_own_channel():
    first, second = (written(together(agent)[2]) for agent in (0, 1))
    assert {"# Hall", "Agent 0 (you)", "@agent-0", "@agent-1", "And you?"} <= set(first)
    assert "Where is the ladder?" not in first
    assert {"# back", "Agent 1 (you)", "Where is the ladder?"} <= set(second)
    assert "And you?" not in second


def test_the_viewer_is_named_in_the_heading():
    assert str(together()[3]).startswith("desk · Agent 0 of 2 · step 3 of 3\n")
    assert str(together(1)[3]).startswith("desk · Agent 1 of 2 · step 3 of 3\n")


def test_all_actions_are_described_that_of_the_viewer_first():
    assert [step.description for step in together().steps] == [
        "Agent 0: idle; Agent 1: go to #back",
        "Agent 0: send reply “On my way.”; Agent 1: react ❤️ to Ada",
        "Agent 0: idle; Agent 1: join the call in #Phone",
    ]
    seen = "Agent 1: react ❤️ to Ada: “Hello @agent-0, have you seen it?”; Agent 0: send reply “On my way.”"
    assert together(1).steps[1].description == seen
    assert play(IDLE, IDLE, env=PAIR).steps[0].description == "Agent 0, Agent 1: idle"


def test_an_answer_is_reported_to_whom_it_concerns():
    answered = "answered: Ada in #Hall, after 2 steps, by Agent 0"
    assert answered in together().steps[1].effects
    assert answered not in together(1).steps[1].effects  # it is in the back


def test_of_two_answers_the_first_counts_and_both_are_shown():
    episode = play(REPLY, REPLY, env=PAIR, document=SHARED)
    assert "answered: Ada in #Hall, after one step, by Agent 0" in episode.steps[0].effects
    assert str(episode[1]).count("On my way.") == 4  # as what was done, as what was seen, and twice in the channel
    assert episode.states[-1].counts.answered.tolist() == [1, 0]


def test_rewards_are_sums_and_statistics_are_those_of_the_viewer():
    episode = together(1)
    assert episode.total == pytest.approx(float(np.sum(episode.states[-1].counts.total_reward)), abs=1e-5)
    own = float(episode.states[-1].counts.total_reward[1])
    assert f"So far, Agent 1\n  return {own:.2f}, " in str(episode[-1])


def test_reactions_and_calls_of_others_are_shown():
    episode = play(react(0, 0), react(0, 0), IDLE, join(PHONE), env=PAIR, document=SHARED)
    assert "@agent-1 And you?           [pending]  👍 2" in str(episode[1])
    assert "call with Agent 1" in str(episode[2])


def test_where_other_agents_are_is_not_shown():
    def shown(channel, agent):
        state = episode.states[0]
        moved = state.replace(channel=np.array([HALL, channel], np.int8), unread=np.array(state.unread))
        return rendering.render(PAIR, moved, episode.params, agent=agent)

    episode = together()
    assert shown(HALL, 0).svg() == shown(BACK, 0).svg()
    assert str(shown(HALL, 0)) == str(shown(BACK, 0))
    assert str(shown(HALL, 1)) != str(shown(BACK, 1))


def test_an_agent_that_there_is_not_is_refused():
    episode = together()
    with pytest.raises(ValueError, match=r"agent=2: the agents of TeamsClone-MultiAgent-v0 are numbered 0 to 1"):
        rendering.render(PAIR, episode.states[0], episode.params, agent=2)
    with pytest.raises(ValueError, match=r"agent=1: the agents of TeamsClone-v0 are numbered 0 to 0"):
        rendering.render(ENV, play(IDLE).states[0], play(IDLE).params, agent=1)


@pytest.mark.parametrize("id", ["TeamsClone-v0", "TeamsClone-MultiAgent-v0"])
def test_a_policy_that_remembers_plays_for_every_agent(id):
    env, params = jaxenv.make(id)
    params = params.replace(max_steps_in_episode=np.int32(12))
    policy = baselines.for_environment(env)["Rule-based"]
    episode = rendering.record(env, params, policy, jax.random.key(5), 0)
    actions = np.array([step.action for step in episode.steps])
    assert actions.shape == ((12,) if env.num_agents == 1 else (12, 4))
    observation, memory = env.observe(episode.states[0], params), policy.initial_carry()
    for state, action in zip(episode.states[:-1], actions, strict=True):
        observation = env.observe(state, params)
        if env.num_agents > 1:
            observation = jax.tree.map(lambda leaf: leaf[0], observation)
        expected, memory = policy.act(jax.random.key(0), observation, params, memory)
        assert expected == np.ravel(action)[0]
