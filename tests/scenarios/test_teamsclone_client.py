"""The specification's client: its actions, its response format, what content becomes, and what it plays."""

import json
import types

import jax
import jax.numpy as jnp
import pytest

import jaxenv
import scenarios
from jaxenv.envs import teamsclone
from jaxenv.envs.teamsclone import actions
from jaxenv.envs.teamsclone.reward import RewardParts
from jaxenv.envs.teamsclone.types import EMOJI, KINDS
from jaxenv.wrappers import EpisodeStatistics, FlattenObservation
from reference.teamsclone_general import general
from scenarios.teamsclone import Action, TeamsEnvClient
from scenarios.teamsclone.client import read_action
from strategies.teamsclone_words import (
    CALLING,
    FORMAT,
    IDLE,
    OFFICE,
    START,
    STEP,
    Game,
    clock,
    join,
    paid,
    post,
    quiet,
    react,
    send,
    switch,
)

PARTS = set(RewardParts.__dataclass_fields__)
WAITING = quiet(post(1, 1, "Well?", "mention"), post(2, 1, "And you?", "mention"))


def last_content(response: dict) -> str:
    return response["state"]["recentMessages"][-1]["content"]


# The response format -----------------------------------------------------------------------------------------------


def test_format_reset_has_success_state_and_a_message(office: TeamsEnvClient) -> None:
    response = office.reset()
    assert set(response) == {"success", "state", "message"} <= FORMAT
    assert response["success"] is True
    assert response["message"] == "A new episode of general."


def test_format_state_has_success_and_state(office: TeamsEnvClient) -> None:
    assert office.get_state() == {"success": True, "state": office.reset()["state"]}


def test_format_step_has_state_reward_done_and_info(office: TeamsEnvClient) -> None:
    response = office.step(send("Hello team!"))
    assert set(response) == STEP
    assert (response["success"], response["reward"], response["done"]) == (True, 0.1, False)
    assert response["state"] == office.get_state()["state"]


def test_format_error_is_there_where_success_is_false(office: TeamsEnvClient) -> None:
    for action in (switch(9), 3, send("x" * 1001)):
        response = office.step(action)
        assert set(response) == STEP | {"error"} <= FORMAT
        assert response["success"] is False
        assert response["error"]


def test_format_info_has_parts_ends_and_statistics(office: TeamsEnvClient) -> None:
    info = office.step(send("Hello team!"))["info"]
    assert set(info) == {"reward_parts", "invalid_action", "terminated", "truncated", "statistics"}
    assert set(info["reward_parts"]) == PARTS
    assert (info["invalid_action"], info["terminated"], info["truncated"]) == (False, False, False)
    assert info["statistics"] == office.get_state()["state"]["episodeStats"]


def test_format_stats_are_those_of_the_state(office: TeamsEnvClient) -> None:
    office.step(send("Hello team!"))
    response = office.get_stats()
    assert response == {"success": True, "stats": office.get_state()["state"]["episodeStats"]}
    assert (response["stats"]["messagesSent"], response["stats"]["totalReward"]) == (1, 0.1)


def test_format_actions_are_the_legal_ones_in_document_form(office: TeamsEnvClient) -> None:
    response = office.get_actions()
    assert set(response) == {"success", "actions"}
    assert len(response["actions"]) == 6 + 4 + 4 + 2 * len(EMOJI) + 1
    assert {action["type"] for action in response["actions"]} == {
        "send_message",
        "switch_channel",
        "react_to_message",
        "idle",
    }
    for action in response["actions"]:
        office.reset()
        response = office.step(action)
        assert response["success"]
        assert not response["info"]["invalid_action"]


def test_format_everything_can_be_written_as_json(office: TeamsEnvClient) -> None:
    answers = [office.reset(), office.get_state(), office.get_actions(), office.get_stats()]
    answers += [office.step(action) for action in (send("Hi."), switch(2), join(), {}, None)]
    assert json.loads(json.dumps(answers)) == answers


# The actions -------------------------------------------------------------------------------------------------------


def test_row_send_message_into_the_current_channel(office: TeamsEnvClient) -> None:
    for action in (send("Hello team!"), send("Hello team!", 1)):
        office.reset()
        response = office.step(action)
        assert paid(response) == {"send": 0.1}
        assert response["state"]["recentMessages"][-1] == {
            "id": "msg-channel-1-3",
            "channelId": "channel-1",
            "userId": "agent",
            "content": "Hello team!",
            "timestamp": START,
            "reactions": [],
        }


def test_row_send_message_into_another_channel(office: TeamsEnvClient) -> None:
    response = office.step(send("Count me in!", 2))
    assert paid(response) == {"send": 0.1}
    assert response["state"]["agentState"]["currentChannelId"] == "channel-1"
    assert [last_content(response), last_content(office.step(switch(2)))] == ["Hello.", "Count me in!"]


def test_row_switch_channel_to_any_team(office: TeamsEnvClient) -> None:
    response = office.step(switch(4))
    assert paid(response) == {"switch": 0.05}
    assert response["state"]["agentState"] == {
        "currentTeamId": "team-2",
        "currentChannelId": "channel-4",
        "userId": "agent",
    }


def test_row_react_to_message(office: TeamsEnvClient) -> None:
    response = office.step(react("msg-channel-1-1", "🎉"))
    assert paid(response) == {"react": 0.05}
    assert [message["reactions"] for message in response["state"]["recentMessages"]] == [["🎉"], []]


@pytest.mark.parametrize("action", [join(), join(1), {"type": "join_call"}])
def test_row_join_call_in_the_current_channel_where_it_is_left_out(action: dict) -> None:
    client = Game(CALLING).client()
    client.step(IDLE)
    assert paid(client.step(action)) == {"join_call": 0.3}


def test_row_idle_changes_nothing(office: TeamsEnvClient) -> None:
    response = office.step(IDLE)
    assert (response["success"], response["reward"], clock(response)) == (True, 0, 1)


def test_an_action_can_be_any_mapping_or_a_record(office: TeamsEnvClient) -> None:
    for action in (types.MappingProxyType(switch(3)), Action(type="idle")):
        assert office.step(action)["success"]


# What content becomes ----------------------------------------------------------------------------------------------


def entry(game: Game, action: dict) -> list[int]:
    """The row of the catalogue that an action is read as at the first state: verb, channel and kind."""
    index = read_action(action, game.codec, jax.device_get(game.start())).index
    return game.env.catalogue.table[index, :3].tolist()


@pytest.mark.parametrize("kind", ["greeting", "reply", "question", "status", "thanks", "chatter"])
def test_content_equal_to_a_template_is_that_template(office: TeamsEnvClient, kind: str) -> None:
    text = general()["texts"][kind][0]
    assert entry(Game(OFFICE), send(text)) == [actions.TEXT, 0, KINDS.index(kind)]
    assert last_content(office.step(send(text))) == text


def test_other_content_is_an_answer_where_a_seen_mention_pends() -> None:
    client = Game(WAITING).client()
    assert entry(Game(WAITING), send("On it.")) == [actions.TEXT, 0, KINDS.index("reply")]
    response = client.step(send("On it."))
    assert paid(response) == {"send": 0.1, "mention_response": 0.5, "timely_response": 0.2}
    assert last_content(response) == "On it."
    assert response["info"]["statistics"]["mentionsAnswered"] == 1


def test_other_content_is_chatter_where_no_seen_mention_pends() -> None:
    assert entry(Game(OFFICE), send("On it.")) == [actions.TEXT, 0, KINDS.index("chatter")]


def test_content_to_another_channel_is_always_an_answer() -> None:
    for content in ("On it.", general()["texts"]["chatter"][0]):
        assert entry(Game(OFFICE), send(content, 2)) == [actions.ANSWER, 1, KINDS.index("reply")]
    client = Game(WAITING).client()
    assert paid(client.step(send("On it.", 2))) == {"send": 0.1}  # the mention there was not seen
    client.step(switch(2))
    client.step(switch(1))
    assert paid(client.step(send("On it.", 2)))["mention_response"] == 0.5


def test_the_content_given_is_what_the_state_shows_until_it_has_left_the_window(office: TeamsEnvClient) -> None:
    said = [f"Line {n}." for n in range(12)]
    for line in said:
        response = office.step(send(line))
    assert [message["content"] for message in response["state"]["recentMessages"]] == said[2:]
    office.reset()
    other = office.step(send("After the reset."))
    assert [message["content"] for message in other["state"]["recentMessages"]] == [
        "Welcome!",
        "Hello.",
        "After the reset.",
    ]


def test_content_of_a_thousand_characters_is_sent(office: TeamsEnvClient) -> None:
    assert last_content(office.step(send("é" * 1000))) == "é" * 1000


# Environments, banks and seeds -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("id", ["TeamsClone-v0", "TeamsClone-Mentions-v0", "TeamsClone-MultiTask-v0"])
def test_every_variant_of_one_agent_plays_the_shipped_library(id: str) -> None:
    env, params = jaxenv.make(id)
    client = TeamsEnvClient(env, params)
    response = client.step(send("Hello team!"))
    assert response["success"]
    assert sum(response["info"]["reward_parts"].values()) == pytest.approx(response["reward"], abs=1e-4)
    assert ("success" in response["info"]) == (id == "TeamsClone-Mentions-v0")


def test_wrapped_environments_are_played(office: TeamsEnvClient) -> None:
    env, params = jaxenv.make("TeamsClone-v0")
    client = TeamsEnvClient(FlattenObservation(EpisodeStatistics(env)), params, seed=3)
    assert client.step(IDLE)["success"]


def test_several_agents_are_refused() -> None:
    env, params = jaxenv.make("TeamsClone-MultiAgent-v0")
    with pytest.raises(scenarios.ScenarioError, match="has 4 agents, the client plays one"):
        TeamsEnvClient(env, params)


def test_params_out_of_their_bounds_are_refused() -> None:
    params = teamsclone.classic().params_for(scenarios.load("teamsclone").bank).replace(shared_reward=7.0)
    with pytest.raises(scenarios.ScenarioError, match=r"^params: shared_reward is 7.0, expected a finite number"):
        TeamsEnvClient(params=params)


def test_other_environments_and_banks_are_refused() -> None:
    with pytest.raises(scenarios.ScenarioError, match="cannot play this library, which holds teamsclone"):
        TeamsEnvClient(*jaxenv.make("LifeOps-v0"))
    params = teamsclone.classic().params_for(scenarios.parse("teamsclone", OFFICE).bank)
    with pytest.raises(scenarios.ScenarioError, match="not the bank of the library"):
        TeamsEnvClient(teamsclone.classic(), params)


def test_equal_seeds_give_equal_episodes() -> None:
    library = scenarios.load("teamsclone")
    params = teamsclone.classic().params_for(library.bank)

    def play(seed: int) -> list[dict]:
        client = TeamsEnvClient(teamsclone.classic(), params, seed, library)
        return [client.reset(), *[client.step(IDLE) for _ in range(15)], client.reset()]

    assert play(5) == play(5)
    assert play(5) != play(6)


def test_the_example_of_the_specification_runs() -> None:
    client = Game(OFFICE, max_steps_in_episode=jnp.int32(5)).client()
    state, done, total = client.reset()["state"], False, 0.0
    while not done:
        result = client.step(send(f"Step {state['episodeStats']['stepCount']}"))
        total, state, done = total + result["reward"], result["state"], result["done"]
    assert state["episodeStats"]["stepCount"] == 5
    assert state["episodeStats"]["totalReward"] == pytest.approx(total, abs=1e-4)
