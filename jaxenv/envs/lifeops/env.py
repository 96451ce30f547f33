"""LifeOps: the day planner as an environment, composed of its phases."""

import dataclasses
from pathlib import Path
from typing import ClassVar

import jax
import jax.numpy as jnp

from jaxenv.core import LibraryEnvironment, ScenarioBank, terms
from jaxenv.core.fields import taken
from jaxenv.core.types import ActionMask, Entities, Key, TurnResult
from jaxenv.envs.lifeops import actions, dynamics, features, generator, observe, reward
from jaxenv.envs.lifeops.actions import Catalogue
from jaxenv.envs.lifeops.types import VISIBLE_REQUESTS, Limits, Observation, Params, Scenario, State, require_room


@dataclasses.dataclass(frozen=True)
class LifeOps(LibraryEnvironment[Params, State, Observation]):
    """A day of meeting requests and unfinished work: accept, reject, move, propose, or block focus time.
    To move a request books it at another time, to propose offers one and books nothing. The day ends when no request
    waits and no work is left, or when its steps are used up.

    Attributes:
        name: the id that it is registered under.
        catalogue: the meaning of the action indices; its size is 16 under the classic rules, 46 under the shaped ones.
        weights: the reward of `default_params`.
        limits: the capacities of its arrays.
    """

    name: str = "LifeOps-v0"
    catalogue: Catalogue = actions.CLASSIC
    weights: reward.RewardWeights = reward.CLASSIC
    limits: Limits = Limits()
    library: ClassVar[Path] = Path(__file__).with_name("library.npz")
    scenario_type: ClassVar[type] = Scenario
    state_type: ClassVar[type] = State
    observation_type: ClassVar[type] = Observation

    def make_params(self, bank: ScenarioBank) -> Params:
        """The weights of the id and a departure at midnight; a calendar without room for its steps is a ValueError."""
        require_room(bank, self.limits)
        return Params(bank=bank, weights=jax.tree.map(jnp.float32, self.weights), departure_min=jnp.int32(0))

    def init(self, key: Key, params: Params, scenario: jax.Array | int | None) -> State:
        """The morning of a scenario; an index out of range is clamped to the bank."""
        index = params.bank.sample(key) if scenario is None else jnp.asarray(scenario, jnp.int32)
        index = jnp.clip(index, 0, params.bank.size - 1)
        day = params.bank[index]
        given = taken(day, "calendar", "source", "overlaps", "tight_legs")
        return self.empty_state.replace(scenario=index, minutes_left=day.tasks.minutes, **given)

    def transition(self, key: Key, state: State, action: jax.Array, params: Params) -> TurnResult[State]:
        """One turn; a day is deterministic, so `key` is not used."""
        del key
        scenario = params.bank[state.scenario]
        after, turn = dynamics.transition(self.catalogue, state, scenario, jnp.asarray(action), params.departure_min)
        parts = terms.reward_parts(params.weights, reward.Step.of(turn, scenario))
        info = {"reward_parts": parts, "invalid_action": ~turn.legal}
        return after, terms.total(parts), dynamics.is_terminated(after, scenario), info

    def observe(self, state: State, params: Params) -> Observation:
        """All but the requests from the fourth on."""
        return observe.observe(self.catalogue, state, params)

    def is_truncated(self, state: State, params: Params) -> jax.Array:
        """[] bool: the scenario's step limit is reached and the day is not over, unlike in the other environments."""
        scenario = params.bank[state.scenario]
        return (state.clock >= scenario.max_steps) & ~dynamics.is_terminated(state, scenario)

    def is_over(self, state: State, params: Params) -> jax.Array:
        """[] bool: the day has ended or run out of time."""
        scenario = params.bank[state.scenario]
        return dynamics.is_terminated(state, scenario) | (state.clock >= scenario.max_steps)

    def action_mask(self, state: State, params: Params) -> ActionMask:
        """[A] bool, the legal entries; all True once the day has ended."""
        return observe.current_mask(self.catalogue, state, params.bank[state.scenario])

    def feasible_mask(self, state: State, params: Params) -> ActionMask:
        """[A] bool, an optional mask that is never enforced: legal entries that leave a feasible day.

        It keeps entries that leave no overlaps and no travel issues, and handled requests (not focus) out of
        the hours before 9:00 and from 20:00 to 23:00; it always keeps rejecting.
        """
        return observe.feasible_mask(self.catalogue, state, params)

    def determinize(self, key: Key, state: State, params: Params) -> tuple[State, Params]:
        """The day with its hidden requests as the generator would draw them, at a difficulty drawn from 0 to 1."""
        day, seen = params.bank[state.scenario], state.handled + VISIBLE_REQUESTS
        with jax.enable_x64(False):
            day = generator.redraw_requests(key, day, seen, self.limits)
        return state.replace(scenario=jnp.int32(0)), params.replace(bank=params.bank.only(day))

    def entities(self, observation: Observation, params: Params) -> Entities:
        """Context, tasks, requests, events and actions, see `features.entities` for the layout."""
        return features.entities(self.catalogue, observation, params)

    def generate(self, key: Key, difficulty: jax.Array | float) -> Scenario:
        """A drawn day, see `generator.generate`."""
        with jax.enable_x64(False):  # the same draws whether or not 64 bits are enabled
            return generator.generate(key, self.limits, difficulty)
