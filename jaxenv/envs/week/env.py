"""Week: five days on one clock as an environment, composed of its phases."""

import dataclasses
import functools
from pathlib import Path
from typing import ClassVar

import jax
import jax.numpy as jnp

from jaxenv.core import LibraryEnvironment, ScenarioBank, terms
from jaxenv.core.fields import declared, widened
from jaxenv.core.types import ActionMask, Entities, Key, TurnResult
from jaxenv.envs.week import dynamics, features, generator, hidden, observe, reward
from jaxenv.envs.week.actions import Catalogue
from jaxenv.envs.week.types import END, Limits, Observation, Params, Scenario, State


@dataclasses.dataclass(frozen=True)
class Week(LibraryEnvironment[Params, State, Observation]):
    """A working week: keep promises, find out what is true before you begin, answer, and be where it happens.
    Everything that pays, pays once, 100 points in all; the week ends after five days of 40 quarter hours.

    Attributes:
        name: the id that it is registered under.
        notebook: how many facts the notebook holds, those that were told last; 16 are all by default.
        sees_truth: whether the present value of every fact is observed in the place of the notebook.
        limits: the capacities of its arrays.
    """

    name: str = "Week-v0"
    notebook: int = 1
    sees_truth: bool = False
    limits: Limits = Limits()
    library: ClassVar[Path] = Path(__file__).with_name("library.npz")
    scenario_type: ClassVar[type] = Scenario
    state_type: ClassVar[type] = State
    observation_type: ClassVar[type] = Observation

    def __post_init__(self) -> None:
        """Refuses a notebook of fewer than no lines."""
        if self.notebook < 0:
            raise ValueError(f"notebook={self.notebook}: expected 0 or more facts")

    @functools.cached_property
    def catalogue(self) -> Catalogue:
        """The meaning of the action indices."""
        return Catalogue(self.limits)

    def make_params(self, bank: ScenarioBank) -> Params:
        """The payments of the rules."""
        return Params(bank, jax.tree.map(jnp.float32, reward.PAID), jnp.int32(END))

    def init(self, key: Key, params: Params, scenario: jax.Array | int | None) -> State:
        """Monday at eight, at home; an index out of range is clamped to the bank."""
        index = params.bank.sample(key) if scenario is None else jnp.asarray(scenario, jnp.int32)
        index = jnp.clip(index, 0, params.bank.size - 1)
        week = params.bank[index]
        return self.empty_state.replace(scenario=index, promised=week.events.promised, known=week.jobs.known)

    def transition(self, key: Key, state: State, action: jax.Array, params: Params) -> TurnResult[State]:
        """One turn; a week is deterministic, so `key` is not used."""
        del key
        week = params.agenda(state.scenario)
        after, turn = dynamics.transition(self.catalogue, self.notebook, widened(state), week, action)
        after = declared(after, self.sizes)
        parts = terms.reward_parts(params.weights, turn)
        return after, terms.total(parts), after.clock >= END, {"reward_parts": parts, "invalid_action": ~turn.legal}

    def observe(self, state: State, params: Params) -> Observation:
        """The week without the truth and without what is still to come."""
        week, is_over = params.agenda(state.scenario), self.is_over(state, params)
        return declared(observe.observe(widened(state), week, is_over, self.sees_truth), self.sizes)

    def is_truncated(self, state: State, params: Params) -> jax.Array:
        """[] bool: a time limit below the week's own end is reached."""
        return (state.clock.astype(jnp.int32) >= params.max_steps_in_episode) & (state.clock < END)

    def is_over(self, state: State, params: Params) -> jax.Array:
        """[] bool: the week has ended or run out of time."""
        return (state.clock >= END) | self.is_truncated(state, params)

    def action_mask(self, state: State, params: Params) -> ActionMask:
        """[A] bool, the legal entries; all True once the episode is over."""
        return observe.current_mask(widened(state), params.agenda(state.scenario), self.is_over(state, params))

    def determinize(self, key: Key, state: State, params: Params) -> tuple[State, Params]:
        """The week as it may be: the truth, what was not shown and what is to come drawn anew, see `hidden.redrawn`."""
        with jax.enable_x64(False):
            week = params.agenda(state.scenario)
            state, week = hidden.redrawn(key, widened(state), week, self.sees_truth)
        state, week = (declared(each, self.sizes) for each in (state.replace(scenario=jnp.int32(0)), week))
        return state, params.replace(bank=params.bank.only(week))

    def entities(self, observation: Observation, params: Params) -> Entities:
        """Context, channels, events, facts, jobs, messages and actions; see `features.entities`."""
        return features.entities(self.catalogue, observation)

    def generate(self, key: Key, difficulty: jax.Array | float) -> Scenario:
        """A drawn week, see `generator.generate`."""
        with jax.enable_x64(False):  # the same draws whether or not 64 bits are enabled
            return generator.generate(key, self.limits, difficulty)
