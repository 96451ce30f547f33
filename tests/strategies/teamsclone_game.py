"""One TeamsClone workspace in the JAX engine, played by entries and draws of the rules' own words."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import jaxenv
import scenarios
from jaxenv.envs.teamsclone import TeamsClone, messages
from jaxenv.envs.teamsclone.types import KINDS, NEVER, NO_REACTION, PRESENCE, Draws, Schedule
from reference.teamsclone_cases import draws, small
from reference.teamsclone_rules import Entry, catalogue
from scenarios.teamsclone import texts

ENTRIES = catalogue(8)
IDS = {
    "classic": "TeamsClone-v0",
    "mentions": "TeamsClone-Mentions-v0",
    "multi_task": "TeamsClone-MultiTask-v0",
    "multi_agent": "TeamsClone-MultiAgent-v0",
    "multi_agent_v1": "TeamsClone-MultiAgent-v1",
}
GOALS = {"classic": "none", "multi_task": "none", "mentions": "mentions", "multi_agent": "quota"}


class Shown(NamedTuple):
    """A message of the window as an agent is shown it."""

    author: int | str  # a teammate's index, or "agent k"
    kind: str
    mentions_me: bool
    pending: bool
    age: int
    reaction: int | None
    text: str


class Kept(NamedTuple):
    """A message as the state keeps it."""

    author: int | str
    kind: str
    text: str
    named: int | None
    pending: bool
    seen: list[bool]
    posted: int
    reactions: list[int | None]


class Step(NamedTuple):
    """What a step told, by agent; of the reward the parts that are not zero."""

    rewards: list[float]
    parts: list[dict[str, float]]
    invalid: list[bool]
    terminated: bool
    truncated: bool
    success: bool | None


@functools.cache
def made(variant: str, num_agents: int) -> tuple[TeamsClone, Any]:
    """(environment, params) of a variant."""
    static = {"num_agents": num_agents} if num_agents > 1 else {}
    several = variant if variant.startswith("multi_agent") else "multi_agent"
    return jaxenv.make(IDS[several if num_agents > 1 else variant], **static)


@functools.cache
def program(goal: str, num_agents: int) -> tuple[TeamsClone, Any, Any]:
    """(environment, jitted reset, jitted turn by draws), compiled once for all workspaces."""
    env = TeamsClone(goal=goal, num_agents=num_agents)

    @jax.jit
    def turn(state, action, bits, params):
        state, *told = env.turn(state, action, Draws(bits[: env.limits.users], *bits[env.limits.users :]), params)
        return state, env.observe(state, params), told, env.is_truncated(state, params)

    return env, jax.jit(env.reset_env), turn


class Game:
    """An episode of the small document, or of another; `params` are replaced by name, weights beside them."""

    def __init__(self, document=None, variant="classic", num_agents=1, schedule=None, weights=None, **params):
        if num_agents > 1:
            variant = "multi_agent"
            params = {"quota_mentions": 1000, "quota_calls": 1000} | params
        library = scenarios.parse("teamsclone", small() if document is None else document)
        self.texts = texts(library.documents)
        _, defaults = made(variant, num_agents)
        found = {name: jnp.asarray(value, getattr(defaults, name).dtype) for name, value in params.items()}
        amounts = {name: jnp.float32(value) for name, value in (weights or {}).items()}
        self.params = defaults.replace(
            bank=library.bank.replace(shared=None), weights=defaults.weights.replace(**amounts), **found
        )
        self.env, reset, self._turn = program(GOALS[variant], num_agents)
        self.observation, self.state = reset(jax.random.key(0), self.params, 0)
        if variant == "mentions":
            self.state = with_schedule(self.state, schedule)
        self.count = int(self.params.bank.scenarios.num_channels[0])

    # -------------------------------------------------------------------------------------- playing

    def play(self, *entries: Entry, world=None) -> Step:
        """One step with an entry (or an index) for each agent, idle where none is given."""
        every = [*entries, *[Entry("idle")] * (self.env.num_agents - len(entries))]
        indices = [each if isinstance(each, int) else ENTRIES.index(each) for each in every]
        action = np.array(indices if self.env.num_agents > 1 else indices[0], np.int32)
        plain = world or draws()
        bits = np.array([*plain.presence, *plain[1:]], np.int32)
        self.state, self.observation, told, truncated = self._turn(self.state, action, bits, self.params)
        rewards, terminated, info = jax.device_get(told)
        agents = range(self.env.num_agents)
        named = vars(info["reward_parts"]).items()
        parts = {name: np.atleast_1d(value).astype(float).round(6) for name, value in named}
        return Step(
            rewards=np.atleast_1d(rewards).astype(float).round(6).tolist(),
            parts=[{name: float(value[n]) for name, value in parts.items() if value[n] != 0} for n in agents],
            invalid=np.atleast_1d(info["invalid_action"]).tolist(),
            terminated=bool(terminated),
            truncated=bool(truncated),
            success=bool(info["success"]) if "success" in info else None,
        )

    def earns(self, *entries: Entry, world=None) -> dict[str, float]:
        """The parts of agent 0's reward that are not zero."""
        return self.play(*entries, world=world).parts[0]

    def wait(self, steps: int, world=None) -> None:
        """Idle steps of all agents."""
        for _ in range(steps):
            self.play(world=world)

    # ------------------------------------------------------------------------------------ what is so

    def shown(self, agent: int = 0) -> Any:
        """The observation of an agent as NumPy arrays."""
        seen = jax.device_get(self.observation)
        return jax.tree.map(lambda leaf: leaf[agent], seen) if self.env.num_agents > 1 else seen

    def window(self, agent: int = 0) -> list[Shown]:
        """What an agent is shown of its channel, newest first."""
        w = self.shown(agent).messages
        return [
            Shown(
                self._author(w.author[n]),
                KINDS[w.kind[n]],
                bool(w.mentions_me[n]),
                bool(w.pending[n]),
                int(w.age[n]),
                None if w.reaction[n] == NO_REACTION else int(w.reaction[n]),
                self.texts[w.text[n]],
            )
            for n in range(int(w.exists.sum()))
        ]

    def kept(self, channel: int = 0) -> list[Kept]:
        """The messages that a channel keeps, oldest first."""
        rings, agents = jax.device_get(self.state.messages), range(self.env.num_agents)
        number = int(rings.count[channel])
        found = []
        for serial in range(max(number - 10, 0), number):
            place = serial % 10 * len(rings.count) + channel
            word, given = rings.words[place], int(rings.reactions[place])
            named, marks = int(messages.named(word)), [given >> 4 * agent & 15 for agent in agents]
            found.append(
                Kept(
                    self._author(int(messages.author(word))),
                    KINDS[int(messages.kind(word))],
                    self.texts[int(messages.text(word))],
                    None if named < 0 else named,
                    bool(messages.is_pending(word)),
                    [bool(messages.is_seen(word, agent)) for agent in agents],
                    int(rings.posted[place]),
                    [None if mark == 0 else mark - 1 for mark in marks],
                )
            )
        return found

    def legal(self, entry: Entry, agent: int = 0) -> bool:
        """Whether the mask allows an entry."""
        return bool(self.shown(agent).action_mask[ENTRIES.index(entry)])

    def mask(self, agent: int = 0) -> list[int]:
        """The indices that the mask allows."""
        return np.flatnonzero(self.shown(agent).action_mask).tolist()

    def statistics(self, agent: int = 0) -> dict[str, float]:
        """The statistics so far by name."""
        found = jax.device_get(self.env.statistics(self.state, self.params))
        return {name: round(float(np.atleast_1d(value)[agent]), 6) for name, value in vars(found).items()}

    @property
    def presence(self) -> list[str]:
        """Of the teammates that exist."""
        number = int(self.params.bank.scenarios.num_users[0])
        return [PRESENCE[code] for code in np.asarray(self.state.presence)[:number]]

    def of_channels(self, name: str, agent: int = 0) -> list[Any]:
        """A field of the observation over the channels that exist."""
        return getattr(self.shown(agent), name)[: self.count].tolist()

    def _author(self, code: int) -> int | str:
        first = self.env.limits.users
        return int(code) if code < first else f"agent {code - first}"


def with_schedule(state, schedule):
    """The state with mentions [(step, channel, author)] of a test's own."""
    columns = np.zeros((3, 8), np.int32)
    columns[0] = NEVER
    columns[:, : len(schedule)] = np.array(schedule).T
    step, channel, author = columns
    return state.replace(schedule=Schedule(jnp.int16(step), jnp.int8(channel), jnp.int8(author)))
