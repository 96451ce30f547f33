"""TeamsClone in words while it runs: the specification's state dictionary, for one agent and for several."""

import copy
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
import scenarios
from jaxenv.core import ScenarioBank
from jaxenv.envs import teamsclone
from strategies.teamsclone_words import IDLE, KEY, OFFICE, START, Game, post, quiet, react, send, switch

MESSAGE = {"id", "channelId", "userId", "content", "timestamp", "reactions"}
STATISTICS = {
    "stepCount",
    "totalReward",
    "messagesSent",
    "channelsSwitched",
    "startTime",
    "channelsVisited",
    "mentionsReceived",
    "mentionsAnswered",
    "mentionsMissed",
    "meanResponseTime",
    "responseRate",
    "validActionShare",
    "coverage",
    "reactionsPerMessage",
}


@pytest.fixture(scope="module")
def office() -> Game:
    return Game(OFFICE)


@pytest.fixture(scope="module")
def library() -> Game:
    return Game(*scenarios.load("teamsclone").documents)


# The state dictionary ----------------------------------------------------------------------------------------------


def test_the_state_dictionary_is_the_specifications_key_for_key(library: Game) -> None:
    state = library.start()
    for _ in range(3):
        told = library.codec.observation(state)
        assert list(told) == [
            "agentState",
            "currentChannel",
            "recentMessages",
            "teams",
            "users",
            "episodeStats",
            "timestamp",
        ]
        assert set(told["agentState"]) == {"currentTeamId", "currentChannelId", "userId"}
        assert set(told["currentChannel"]) == {"id", "name", "teamId", "unread"}
        assert told["recentMessages"]
        assert all(set(message) == MESSAGE for message in told["recentMessages"])
        assert all(set(team) == {"id", "name", "channels"} for team in told["teams"])
        channels = [channel for team in told["teams"] for channel in team["channels"]]
        assert all(set(channel) == {"id", "name", "teamId", "unread"} for channel in channels)
        assert all(set(user) == {"id", "name", "status", "avatar"} for user in told["users"])
        assert set(told["episodeStats"]) == STATISTICS
        state = library.play(state, send("Hello, all of you!"))


def test_row_agent_state_has_team_channel_and_user(office: Game) -> None:
    told = office.codec.observation(office.start())
    assert told["agentState"] == {"currentTeamId": "team-1", "currentChannelId": "channel-1", "userId": "agent"}
    told = office.codec.observation(office.play(office.start(), switch(5)))
    assert told["agentState"] == {"currentTeamId": "team-2", "currentChannelId": "channel-5", "userId": "agent"}


def test_row_current_channel_has_id_name_team_and_unread(office: Game) -> None:
    told = office.codec.observation(office.play(office.start(), switch(4)))
    assert told["currentChannel"] == {"id": "channel-4", "name": "Development", "teamId": "team-2", "unread": 0}


def test_row_recent_messages_are_those_of_the_window_oldest_first(office: Game) -> None:
    state = office.play(office.start(), IDLE, send("Thank you, that helps!"), react("msg-channel-1-1", "🎉"))
    assert office.codec.observation(state)["recentMessages"] == [
        {
            "id": "msg-channel-1-1",
            "channelId": "channel-1",
            "userId": "user-1",
            "content": "Welcome!",
            "timestamp": START - 1000,
            "reactions": ["🎉"],
        },
        {
            "id": "msg-channel-1-2",
            "channelId": "channel-1",
            "userId": "user-2",
            "content": "Hello.",
            "timestamp": START - 1000,
            "reactions": [],
        },
        {
            "id": "msg-channel-1-3",
            "channelId": "channel-1",
            "userId": "agent",
            "content": "Thank you, that helps!",
            "timestamp": START + 1000,
            "reactions": [],
        },
    ]


def test_row_recent_messages_keep_their_ids_when_old_ones_leave() -> None:
    game = Game(quiet(*(post(1, 1, f"Line {n}.") for n in range(1, 11))))
    state = game.play(game.start(), send("Thank you, that helps!"), send("Hello everyone!"))
    told = game.codec.observation(state)["recentMessages"]
    assert [message["id"] for message in told] == [f"msg-channel-1-{n}" for n in range(3, 13)]
    assert [message["content"] for message in told][:2] == ["Line 3.", "Line 4."]
    assert [message["userId"] for message in told][-2:] == ["agent", "agent"]
    reacted = game.play(state, react("msg-channel-1-10"))
    assert [message["reactions"] for message in game.codec.observation(reacted)["recentMessages"]][7] == ["👍"]


def test_row_recent_messages_of_an_empty_channel_are_none(office: Game) -> None:
    assert office.codec.observation(office.play(office.start(), switch(3)))["recentMessages"] == []


def test_row_teams_and_channels_count_what_is_unread(office: Game) -> None:
    def unread(state: Any) -> dict:
        teams = office.codec.observation(state)["teams"]
        assert [team["id"] for team in teams] == ["team-1", "team-2"]
        assert [team["name"] for team in teams] == ["General Team", "Project Alpha"]
        assert all(channel["teamId"] == team["id"] for team in teams for channel in team["channels"])
        return {channel["id"]: channel["unread"] for team in teams for channel in team["channels"]}

    assert unread(office.start()) == {f"channel-{n}": int(n == 2) for n in range(1, 6)}
    assert set(unread(office.play(office.start(), switch(2))).values()) == {0}


def test_row_users_are_the_teammates_and_the_agent(office: Game) -> None:
    assert office.codec.observation(office.start())["users"] == [
        {"id": "user-1", "name": "Alice", "status": "available", "avatar": "👩"},
        {"id": "user-2", "name": "Bob", "status": "busy", "avatar": "👨"},
        {"id": "user-3", "name": "Charlie", "status": "away", "avatar": "🧑"},
        {"id": "agent", "name": "Agent", "status": "available", "avatar": "🤖"},
    ]


def test_row_users_the_agent_is_away_after_six_steps_without_an_act(office: Game) -> None:
    def status(state: Any) -> str:
        return office.codec.observation(state)["users"][-1]["status"]

    five = office.play(office.start(), *[IDLE] * 5)
    assert (status(five), status(office.play(five, IDLE))) == ("available", "away")
    assert status(office.play(five, IDLE, send("Hello everyone!"))) == "available"


def test_row_users_teammates_come_and_go() -> None:
    document = quiet()
    for user, status in zip(document["users"], ("offline", "away", "busy"), strict=True):
        weights = [float(status == name) for name in ("available", "busy", "away", "offline")]
        user["presence_transition"] = dict.fromkeys(("available", "busy", "away", "offline"), weights)
    game = Game(document)
    users = game.codec.observation(game.play(game.start(), IDLE))["users"]
    assert [user["status"] for user in users[:3]] == ["offline", "away", "busy"]


def test_row_episode_stats_and_the_statistics_of_the_rules(office: Game) -> None:
    first = office.codec.observation(office.start())["episodeStats"]
    assert first == dict.fromkeys(STATISTICS, 0) | {"startTime": START, "channelsVisited": 1, "coverage": 0.2}
    state = office.play(office.start(), send("Hello everyone!"), switch(2), react("msg-channel-2-1"), IDLE)
    found = office.codec.observation(state)["episodeStats"]
    assert found == first | {
        "stepCount": 4,
        "totalReward": 0.25,  # a message, an entry, a reaction, and presence once
        "messagesSent": 1,
        "channelsSwitched": 1,
        "channelsVisited": 2,
        "validActionShare": 1,
        "coverage": 0.4,
        "reactionsPerMessage": 0.3333,
    }


def test_row_episode_stats_of_mentions() -> None:
    document = quiet(post(1, 1, "Here?", "mention"), post(2, 1, "And here?", "mention"), mention_window=3)
    game = Game(document)
    state = game.play(game.start(), IDLE, send("Sure, I will look at it now."), IDLE, IDLE)
    found = game.codec.observation(state)["episodeStats"]
    names = ("mentionsReceived", "mentionsAnswered", "mentionsMissed", "meanResponseTime", "responseRate")
    assert [found[name] for name in names] == [2, 1, 1, 2, 0.5]


def test_row_timestamp_is_a_second_a_step(office: Game) -> None:
    state = office.start()
    for clock in range(3):
        assert office.codec.observation(state)["timestamp"] == START + 1000 * clock
        state = office.play(state, IDLE)


def test_a_mention_says_whom_it_names() -> None:
    said = [post(1, 1, "@agent do you have a minute?", "mention"), post(1, 1, "Please look.", "mention")]
    game = Game(quiet(*said, post(1, 1, "Ask @agent, not me.")))
    told = game.codec.observation(game.start())["recentMessages"]
    assert [message["content"] for message in told] == [
        "@agent do you have a minute?",
        "@agent Please look.",
        "Ask @agent, not me.",
    ]


def test_a_mention_may_name_an_agent_who_does_not_exist() -> None:
    game = Game(quiet(post(1, 1, "Ready?", "mention", agent=1)))
    for told in (game.codec.observation(game.start()), game.client().get_state()["state"]):
        assert told["recentMessages"][0]["content"] == "@agent-1 Ready?"


def test_other_channels_are_not_described() -> None:
    """Section 5: workspaces that differ only in what is said elsewhere look the same."""
    first = Game(quiet(post(1, 1, "Hi."), post(2, 1, "Secret."), post(2, 2, "Psst.")))
    second = Game(quiet(post(1, 1, "Hi."), post(2, 3, "Other."), post(2, 3, "Words.", "question")))
    assert first.codec.observation(first.start()) == second.codec.observation(second.start())


def test_text_codes_mean_the_same_in_a_library_of_several() -> None:
    one, two = quiet(post(1, 1, "Only here.")), quiet(post(1, 1, "Only there."), id="other")
    two["texts"] = {**two["texts"], "thanks": ["Merci !"]}
    game = Game(one, two)
    for index, (line, thanks) in enumerate([("Only here.", "Thank you, that helps!"), ("Only there.", "Merci !")]):
        state = game.play(game.start(index), send(thanks))
        told = game.codec.observation(state)["recentMessages"]
        assert [message["content"] for message in told] == [line, thanks]


# Several agents ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def team() -> Game:
    return Game(quiet(post(1, 1, "Ready?", "mention", agent=1), post(1, 2, "Hello.")), num_agents=3)


def test_each_of_several_agents_sees_its_own_channel(team: Game) -> None:
    state = team.play(team.start(), (IDLE, switch(2), switch(3)), (send("Sure, I will look at it now."), IDLE, IDLE))
    told = [codec.observation(state) for codec in team.codecs]
    assert [each["agentState"]["userId"] for each in told] == ["agent-0", "agent-1", "agent-2"]
    assert [each["agentState"]["currentChannelId"] for each in told] == ["channel-1", "channel-2", "channel-3"]
    assert [len(each["recentMessages"]) for each in told] == [3, 0, 0]
    assert told[0]["recentMessages"][0]["content"] == "@agent-1 Ready?"
    assert told[0]["recentMessages"][2]["userId"] == "agent-0"
    assert [each["teams"][0]["channels"][0]["unread"] for each in told] == [0, 1, 1]
    assert [user["id"] for user in told[2]["users"][3:]] == ["agent-0", "agent-1", "agent-2"]
    assert [user["name"] for user in told[2]["users"][3:]] == ["Agent 0", "Agent 1", "Agent 2"]
    assert [each["episodeStats"]["mentionsReceived"] for each in told] == [0, 1, 0]
    assert [each["episodeStats"]["mentionsAnswered"] for each in told] == [1, 0, 0]


def test_each_of_several_agents_has_its_own_actions(team: Game) -> None:
    state = team.play(team.start(), (react("msg-channel-1-2", "🎉"), react("msg-channel-1-2", "👀"), switch(4)))
    told = [codec.observation(state)["recentMessages"] for codec in team.codecs]
    assert [message["reactions"] for message in told[0]] == [[], ["🎉", "👀"]]
    mask = np.asarray(jax.jit(team.env.action_mask)(state, team.params))
    for codec, legal in zip(team.codecs, mask, strict=True):
        found = codec.legal_actions(state)
        assert [entry for entry, _ in found] == np.flatnonzero(legal).tolist()
        assert [codec.encode(state, action) for _, action in found] == [entry for entry, _ in found]
    assert team.codecs[2].encode(state, switch(1)) == 14
    with pytest.raises(scenarios.ScenarioError, match="not legal now"):
        team.codecs[0].encode(state, switch(1))


def test_the_status_of_every_agent_is_reported(team: Game) -> None:
    state = team.play(team.start(), *[(IDLE, IDLE, IDLE)] * 5, (IDLE, send("Hello everyone!"), IDLE))
    users = team.codecs[0].observation(state)["users"][3:]
    assert [user["status"] for user in users] == ["away", "available", "away"]


@pytest.mark.parametrize("agent", [-1, 3])
def test_an_agent_that_there_is_not_is_refused(team: Game, agent: int) -> None:
    with pytest.raises(scenarios.ScenarioError, match=f"no agent {agent} .* 0 to 2"):
        scenarios.Codec(team.env, team.params, team.library, agent)


def test_other_environments_have_one_agent() -> None:
    with pytest.raises(scenarios.ScenarioError, match="no agent 1 in LifeOps-v0"):
        scenarios.Codec(*jaxenv.make("LifeOps-v0"), scenarios.load("lifeops"), agent=1)


# Banks -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", [name for name in jaxenv.registered() if name.startswith("TeamsClone")])
def test_every_variant_speaks_of_the_shipped_library(id: str) -> None:
    """MultiTask's bank has call rates of its own, which change no word."""
    env, params = jaxenv.make(id)
    codec = scenarios.Codec(env, params, scenarios.load("teamsclone"))
    assert codec.observation(env.reset(KEY, params, 0)[1])["recentMessages"]


def test_another_embedding_changes_no_word_and_other_rules_do(office: Game) -> None:
    params = office.params.with_text_embedding(jnp.zeros((99, 4)))
    assert scenarios.Codec(office.env, params, office.library).observation(office.start())
    other = Game(quiet(mention_window=5))
    with pytest.raises(scenarios.ScenarioError, match="not the bank of the library"):
        scenarios.Codec(office.env, other.params, office.library)


def test_generated_workspaces_can_be_described() -> None:
    env = teamsclone.classic()
    keys = jax.random.split(KEY, 3)
    bank = ScenarioBank(jax.jit(jax.vmap(lambda key: env.generate(key, 0.5)))(keys))
    params = env.params_for(bank)
    codec = scenarios.Codec(env, params, scenarios.decompile("teamsclone", bank))
    for index in range(3):
        state = env.reset(KEY, params, index)[1]
        legal = codec.legal_actions(state)
        assert [codec.encode(state, action) for _, action in legal] == [entry for entry, _ in legal]
        assert codec.observation(state)["agentState"]["currentChannelId"].startswith("channel-")


def test_names_that_are_left_out_are_ids() -> None:
    document = copy.deepcopy(quiet())
    for record in (document["users"][0], document["teams"][0], document["teams"][0]["channels"][0]):
        del record["name"]
    game = Game(document)
    told = game.codec.observation(game.start())
    assert (told["users"][0]["name"], told["teams"][0]["name"]) == ("user-1", "team-1")
    assert told["currentChannel"]["name"] == "channel-1"
