"""Workspaces and actions of TeamsClone in words, and games in which they are played."""

import functools
from typing import Any

import jax
import jax.numpy as jnp

import scenarios
from jaxenv.envs import teamsclone
from reference.teamsclone_general import general, without_rates

KEY = jax.random.key(0)
START = 1698765432000  # the time at which `general` begins
IDLE = {"type": "idle", "payload": {}}
STEP = {"success", "state", "reward", "done", "info"}  # what the answer to a step holds
FORMAT = STEP | {"message", "error"}  # what any answer may hold

step = functools.partial(jax.jit, static_argnums=0)(lambda env, *args: env.step_env(KEY, *args))


def quiet(*messages: dict, call_rate: float = 0, **fields: Any) -> dict:
    """The `general` workspace in which nobody posts, with these messages, and with calls in the first channel."""
    document = without_rates(general()) | {"messages": list(messages)} | fields
    document["teams"][0]["channels"][0]["call_rate"] = call_rate
    return document


def post(channel: int, user: int, text: str, kind: str = "chatter", **more: Any) -> dict:
    return {"channel": f"channel-{channel}", "user": f"user-{user}", "kind": kind, "text": text, **more}


def send(content: Any, channel: int | None = None) -> dict:
    where = {} if channel is None else {"channelId": f"channel-{channel}"}
    return {"type": "send_message", "payload": {"content": content, **where}}


def switch(channel: int) -> dict:
    return {"type": "switch_channel", "payload": {"channelId": f"channel-{channel}"}}


def react(message: Any, reaction: str = "👍") -> dict:
    return {"type": "react_to_message", "payload": {"messageId": message, "reaction": reaction}}


def join(channel: int | None = None) -> dict:
    return {"type": "join_call", "payload": {} if channel is None else {"channelId": f"channel-{channel}"}}


OFFICE = quiet(post(1, 1, "Welcome!", "greeting"), post(2, 3, "Lunch?", "question"), post(1, 2, "Hello."))
CALLING = quiet(call_rate=1)


class Game:
    """A library that is played, by as many agents as there are."""

    def __init__(self, *documents: Any, num_agents: int = 1, **params: Any) -> None:
        self.env = teamsclone.classic() if num_agents == 1 else teamsclone.multi_agent(num_agents)
        self.library = scenarios.parse("teamsclone", documents)
        bank = self.library.bank.replace(shared=None)  # without the embedding of texts all compile to the same shapes
        self.params = self.env.params_for(bank).replace(**params)
        self.codecs = [scenarios.Codec(self.env, self.params, self.library, agent) for agent in range(num_agents)]
        self.codec = self.codecs[0]

    def start(self, index: int = 0) -> Any:
        return self.env.reset(KEY, self.params, index)[1]

    def play(self, state: Any, *turns: Any) -> Any:
        """Each turn is an action, or one of each agent."""
        for turn in turns:
            acts = turn if isinstance(turn, tuple) else (turn,)
            indices = [codec.encode(state, act) for codec, act in zip(self.codecs, acts, strict=True)]
            action = jnp.array(indices if self.env.num_agents > 1 else indices[0])
            state = step(self.env, state, action, self.params)[1]
        return state

    def client(self, seed: int = 0) -> scenarios.teamsclone.TeamsEnvClient:
        return scenarios.teamsclone.TeamsEnvClient(self.env, self.params, seed, self.library)


def paid(response: dict) -> dict:
    """The parts of the reward in a client's answer that are not zero."""
    return {name: amount for name, amount in response["info"]["reward_parts"].items() if amount}


def clock(response: dict) -> int:
    return response["state"]["episodeStats"]["stepCount"]
