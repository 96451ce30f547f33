"""TeamsClone: a team's chat as an environment, composed of its phases; one engine for all variants and N agents."""

import dataclasses
import functools
from pathlib import Path
from typing import Any, ClassVar, Literal

import jax
import jax.numpy as jnp

from jaxenv.core import LibraryEnvironment, ScenarioBank, spaces, terms
from jaxenv.core.dice import sample_bits
from jaxenv.core.environment import select
from jaxenv.core.fields import Sizes
from jaxenv.core.types import ActionMask, Entities, Info, Key, TurnResult
from jaxenv.envs.teamsclone import actions, dynamics, features, generator, hidden, observe, reward, types
from jaxenv.envs.teamsclone.actions import Catalogue
from jaxenv.envs.teamsclone.initial_state import MAX_MENTIONS, fresh_schedule, initial_state
from jaxenv.envs.teamsclone.messages import SEEN
from jaxenv.envs.teamsclone.types import Draws, Limits, Observation, Params, Scenario, State, each_agent
from jaxenv.lowering import draws as random
from jaxenv.lowering.batches import where_rare
from jaxenv.lowering.materialize import materialize

TIME_LIMIT = 100

Goal = Literal["none", "mentions", "quota"]
"""The condition that ends an episode early: none; all scheduled mentions addressed; a quota of answers and joins."""


@dataclasses.dataclass(frozen=True)
class TeamsClone(LibraryEnvironment[Params, State, Observation]):
    """A workspace of channels and teammates: answer when you are mentioned, join calls, take part, and do not spam.
    It ends when its steps are used up; in `-Mentions`, when all mentions have been addressed; in `-MultiAgent`, at a
    quota of answers and joins.

    With several agents, actions, masks, rewards, observations and `info`'s own entries have a leading axis N; one agent
    goes without it. `terminated` and `truncated` are shared.

    Attributes:
        name: the id that it is registered under.
        weights: the reward of `default_params`.
        goal: the condition that ends an episode early.
        call_rate: of every channel in `default_params`, negative to leave it to the workspaces.
        quota_share: share of the offers, in `default_params`; 0 for a quota that is a number of answers and joins.
        num_agents: N.
        limits: the capacities of its arrays.
    """

    name: str = "TeamsClone-v0"
    weights: reward.RewardWeights = reward.CLASSIC
    goal: Goal = "none"
    call_rate: float = -1.0
    quota_share: float = 0.0
    num_agents: int = 1
    limits: Limits = Limits()
    library: ClassVar[Path] = Path(__file__).with_name("library.npz")
    scenario_type: ClassVar[type] = Scenario
    state_type: ClassVar[type] = State
    observation_type: ClassVar[type] = Observation

    def __post_init__(self) -> None:
        """Refuses a number of agents that the messages have no room for."""
        if not 1 <= self.num_agents <= types.MAX_AGENTS:
            raise ValueError(f"num_agents={self.num_agents}: expected 1 to {types.MAX_AGENTS} agents")

    @functools.cached_property
    def catalogue(self) -> Catalogue:
        """The meaning of the action indices."""
        return Catalogue(self.limits.channels)

    @property
    def sizes(self) -> Sizes:
        """The capacities, N agents, S scheduled mentions, P places of messages, A actions, and bits of a message."""
        scheduled = MAX_MENTIONS if self.goal == "mentions" else 0
        bits = {"word": SEEN + self.num_agents, "reactions": 4 * self.num_agents}
        return {**super().sizes, **bits, "N": self.num_agents, "S": scheduled, "P": types.WINDOW * self.limits.channels}

    def make_params(self, bank: ScenarioBank) -> Params:
        """The weights, rates and quotas of the variant."""
        return Params(
            bank=bank,
            weights=jax.tree.map(jnp.float32, self.weights),
            call_rate=jnp.float32(self.call_rate),
            max_steps_in_episode=jnp.int32(TIME_LIMIT),
            shared_reward=jnp.float32(0),
            quota_mentions=jnp.int32(0 if self.quota_share else 4),
            quota_calls=jnp.int32(0 if self.quota_share else self.num_agents),
            quota_share=jnp.float32(self.quota_share),
        )

    def init(self, key: Key, params: Params, scenario: jax.Array | int | None) -> State:
        """The first state; an index out of range is clamped to the bank."""
        state = self.unscheduled(key, params, scenario)
        if self.goal == "mentions":
            state = state.replace(schedule=fresh_schedule(*self._chance_of_schedule(key, state, params)))
        return state

    def unscheduled(self, key: Key, params: Params, scenario: jax.Array | int | None) -> State:
        """The first state without mentions of the variant's own."""
        # The upper halves of the first two of the words that a schedule takes, else both halves of one.
        bits = random.bits(key, 2) >> 16 if self.goal == "mentions" else sample_bits(key, 2)
        high, low = bits.astype(jnp.float32) / 2**16
        drawn = params.bank.pick(high + low / 2**16)
        index = drawn if scenario is None else jnp.asarray(scenario, jnp.int32)
        index = jnp.clip(index, 0, params.bank.size - 1)
        return initial_state(index, params.bank[index], self.empty_state)

    def transition_or_reset(
        self, turn_key: Key, reset_key: Key, state: State, action: jax.Array, params: Params
    ) -> tuple[State, State, jax.Array, jax.Array, jax.Array, Info]:
        """The turn and the reset after it; mentions are scheduled where an episode ends alone."""
        if self.goal != "mentions":
            return super().transition_or_reset(turn_key, reset_key, state, action, params)
        last, rewards, terminated, info = self.transition(turn_key, state, action, params)
        truncated = self.is_truncated(last, params)
        done, fresh = materialize(terminated | truncated), self.unscheduled(reset_key, params, None)
        chance = self._chance_of_schedule(reset_key, fresh, params)
        schedule = where_rare(done, fresh_schedule, chance, last.schedule)
        after = select(done, fresh.replace(schedule=schedule), last.replace(schedule=schedule))
        return last, after, rewards, terminated, truncated, info

    def _chance_of_schedule(self, key: Key, state: State, params: Params) -> tuple:
        """The arguments of `fresh_schedule` for an episode that starts in a state."""
        workspace = params.bank[state.scenario]
        return key, workspace.num_channels, workspace.num_users, params.time_limit

    def sample_draws(self, key: Key) -> Draws:
        """All chance of one step."""
        users = self.limits.users
        bits = sample_bits(key, users + 6)
        return Draws(bits[:users], *bits[users:])

    def transition(self, key: Key, state: State, action: jax.Array, params: Params) -> TurnResult[State]:
        """One step with draws made from `key`."""
        return self.turn(state, action, self.sample_draws(key), params)

    def turn(self, state: State, action: jax.Array, draws: Draws, params: Params) -> TurnResult[State]:
        """One step as a pure function of its draws: (state, reward, terminated, info).

        `info["statistics"]` are those of the specification, of the episode so far; `info["success"]`, where the variant
        has a goal, whether it was reached.
        """
        scenario = params.workspace(state.scenario)
        action = jnp.reshape(jnp.asarray(action), (self.num_agents,))
        after, outcomes = dynamics.transition(self.catalogue, state, scenario, action, draws)
        terminated = self.is_terminated(after, params)
        if self.goal == "quota":
            left = jnp.maximum(params.time_limit - after.clock.astype(jnp.int32), 0)
            outcomes = outcomes.replace(steps_left=jnp.broadcast_to(jnp.where(terminated, left, 0), self.num_agents))
        parts = terms.reward_parts(params.weights, outcomes)
        rewards = reward.share(terms.total(parts), params.shared_reward)  # the parts are below, where they are read
        counts = after.counts.replace(total_reward=after.counts.total_reward + rewards)
        after = after.replace(counts=counts)
        outputs = {
            "reward_parts": reward.share(parts, params.shared_reward),
            "invalid_action": ~outcomes.move.legal,
            "statistics": observe.statistics(after, scenario),
        }
        info = self._of_agents(outputs)
        if self.goal != "none":
            missed = jnp.sum(after.counts.missed, dtype=jnp.int32) > 0 if self.goal == "mentions" else jnp.bool_(False)
            info["success"] = terminated & ~missed
        return after, self._of_agents(rewards), terminated, info

    def is_terminated(self, state: State, params: Params) -> jax.Array:
        """[] bool: the goal of the variant has been decided."""
        counts = state.counts
        if self.goal == "mentions":
            return jnp.all(state.schedule.step < state.clock) & (jnp.sum(state.waiting, dtype=jnp.int32) == 0)
        if self.goal == "quota":
            each = (counts.answered, counts.joined, counts.received)
            answered, joined, mentions = (jnp.sum(count, dtype=jnp.int32) for count in each)
            offered = jnp.stack([mentions, self.num_agents * state.calls.astype(jnp.int32)])
            shares = jnp.ceil(params.quota_share * offered.astype(jnp.float32)).astype(jnp.int32)
            is_met = (answered >= params.quota_mentions) & (joined >= params.quota_calls)
            is_met = is_met & (answered >= shares[0]) & (joined >= shares[1])
            is_late = 2 * state.clock.astype(jnp.int32) >= params.time_limit
            return is_met & ((params.quota_share == 0) | (is_late & jnp.any(offered > 0)))
        return jnp.bool_(False)

    def is_truncated(self, state: State, params: Params) -> jax.Array:
        """[] bool: the time limit is reached, whatever else ends."""
        return state.clock.astype(jnp.int32) >= params.time_limit

    def is_over(self, state: State, params: Params) -> jax.Array:
        """[] bool: the episode has ended or run out of time."""
        return self.is_terminated(state, params) | self.is_truncated(state, params)

    def observe(self, state: State, params: Params) -> Observation:
        """The observation of each agent: its channel, and the unread counts of the others."""
        scenario, is_over = params.bank[state.scenario], self.is_over(state, params)

        def seen_by(agent: jax.Array, state: State) -> Observation:
            return observe.observe(agent, state, scenario, params.time_limit, is_over)

        return self._of_agents(each_agent(seen_by, state))

    def action_mask(self, state: State, params: Params) -> ActionMask:
        """[A] bool ([N, A] for N agents), the legal entries; all True once the episode is over."""
        scenario, is_over = params.bank[state.scenario], self.is_over(state, params)

        def mask(agent: jax.Array, state: State) -> ActionMask:
            return actions.legal_mask(agent, state, scenario, actions.look(agent, state)) | is_over

        return self._of_agents(each_agent(mask, state))

    def determinize(self, key: Key, state: State, params: Params) -> tuple[State, Params]:
        """The workspace with other mentions where the agent, the only one, has seen none."""
        if self.num_agents > 1:
            return super().determinize(key, state, params)
        workspace = params.bank[state.scenario]
        state = hidden.redraw_mentions(key, state, workspace, params.time_limit)
        return state.replace(scenario=jnp.int32(0)), params.replace(bank=params.bank.only(workspace))

    def statistics(self, state: State, params: Params) -> Any:
        """The `Statistics` of the episode so far."""
        return self._of_agents(observe.statistics(state, params.bank[state.scenario]))

    def observation_space(self, params: Params | None = None) -> spaces.Record:
        """A space for each field of `Observation`, with a leading axis N in every field for several agents."""
        of_one = super().observation_space(params)
        return of_one.stacked(self.num_agents) if self.num_agents > 1 else of_one

    def entities(self, observation: Observation, params: Params) -> Entities:
        """Context, messages, channels and actions of one agent's observation, see `features.entities`."""
        return features.entities(self.catalogue, observation, params, self.num_agents)

    def flatten(self, observation: Observation, params: Params) -> jax.Array:
        """[442] float32 for one agent, [472] for each of four, with the default capacities: see `features.flat`."""
        return features.flat(observation, params, self.num_agents)

    def generate(self, key: Key, difficulty: jax.Array | float) -> Scenario:
        """A drawn workspace, see `generator.generate`."""
        with jax.enable_x64(False):  # the same draws whether or not 64 bits are enabled
            return generator.generate(key, self.limits, difficulty)

    def _of_agents(self, tree: Any) -> Any:
        """Without the axis of agents where there is only one."""
        return jax.tree.map(lambda leaf: leaf[0], tree) if self.num_agents == 1 else tree
