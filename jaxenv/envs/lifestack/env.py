"""LifeStack: a crisis as an environment, composed of its phases."""

import dataclasses
import functools
from pathlib import Path
from typing import ClassVar

import jax
import jax.numpy as jnp

from jaxenv.core import LibraryEnvironment, ScenarioBank, terms
from jaxenv.core.environment import select
from jaxenv.core.fields import Sizes, taken
from jaxenv.core.types import ActionMask, Entities, Info, Key, TurnResult
from jaxenv.envs.lifestack import dynamics, features, generator, observe, reward
from jaxenv.envs.lifestack.actions import NUM_VERBS, Catalogue
from jaxenv.envs.lifestack.types import NEVER, RUNNING, Limits, Observation, Params, Scenario, State
from jaxenv.lowering import draws as random
from jaxenv.lowering.materialize import materialize

CHOICE = 2  # random numbers that choose a scenario


@dataclasses.dataclass(frozen=True)
class LifeStack(LibraryEnvironment[Params, State, Observation]):
    """A crisis of hidden facts and routes: find out, choose a way, keep going, be done in time.
    It ends in success when all of its conditions hold, and in failure at a condition of failure, at the deadline, where
    no way is left, or when a metric is exhausted.

    Attributes:
        limits: the capacities of its arrays.
    """

    limits: Limits = Limits()
    name: ClassVar[str] = "LifeStack-v0"
    library: ClassVar[Path] = Path(__file__).with_name("library.npz")
    scenario_type: ClassVar[type] = Scenario
    state_type: ClassVar[type] = State
    observation_type: ClassVar[type] = Observation

    @functools.cached_property
    def catalogue(self) -> Catalogue:
        """The meaning of the action indices."""
        return Catalogue(self.limits.routes, self.limits.keys)

    @property
    def sizes(self) -> Sizes:
        """The capacities, V verbs and A actions."""
        return {**super().sizes, "V": NUM_VERBS}

    def make_params(self, bank: ScenarioBank) -> Params:
        """The weights of the rules."""
        return Params(bank=bank, weights=jax.tree.map(jnp.float32, reward.WEIGHTS))

    def init(self, key: Key, params: Params, scenario: jax.Array | int | None) -> State:
        """The first state, events of step 0 included; an index out of range is clamped to the bank."""
        draws = self.sample_draws(key, extra=CHOICE)
        index = self.choose_scenario(draws, params) if scenario is None else jnp.asarray(scenario, jnp.int32)
        index = jnp.clip(index, 0, params.bank.size - 1)
        crisis = params.bank[index]
        return dynamics.apply_events(self.initial_state(index, crisis), crisis.events, draws[CHOICE:])

    def choose_scenario(self, draws: jax.Array, params: Params) -> jax.Array:
        """[] int32: the scenario that the first `CHOICE` draws fall on."""
        return params.bank.pick(draws[0] + draws[1] / 2**16)

    def initial_state(self, index: jax.Array, crisis: Scenario) -> State:
        """The first state of a crisis, which has an index of the bank, before any event."""
        given = taken(crisis, "facts", "known", "metrics", "time", "money", "energy")
        return self.empty_state.replace(scenario=index, **given)

    def sample_draws(self, key: Key, *, extra: int = 0) -> jax.Array:
        """[extra + X] float32, multiples of 2⁻¹⁶ in [0, 1): an event fires where its number is below its probability.

        Two numbers per random word, which halves their cost.
        """
        return self.split_words(self.sample_words(key, extra), extra)

    def sample_words(self, key: Key, extra: int) -> jax.Array:
        """[ceil((extra + X) / 2)] uint32; those for fewer draws are the first of those for more."""
        return materialize(random.bits(key, (extra + self.limits.events + 1) // 2))

    def split_words(self, words: jax.Array, extra: int) -> jax.Array:
        """[extra + X] float32: the draws that random words hold, the upper halves first."""
        count = extra + self.limits.events
        words = words[: (count + 1) // 2]
        return jnp.concatenate([words >> 16, words & 0xFFFF])[:count].astype(jnp.float32) / 2**16

    def transition(self, key: Key, state: State, action: jax.Array, params: Params) -> TurnResult[State]:
        """One turn with draws made from `key`."""
        return self.turn(state, action, self.sample_draws(key), params)

    def turn(self, state: State, action: jax.Array, draws: jax.Array, params: Params) -> TurnResult[State]:
        """One turn as a pure function of its draws ([X] float32): (state, reward, terminated, info).

        `info["ends"]` says which ends the step came to, `info["success"]` whether it was the good one.
        """
        scenario = params.bank[state.scenario]
        acted, turn = dynamics.transition(self.catalogue, state, scenario, params.bank, jnp.asarray(action))
        after = select(dynamics.is_over(acted, scenario), acted, dynamics.apply_events(acted, scenario.events, draws))
        return after, *self.step_outputs(state, after, turn, scenario, params)

    def transition_or_reset(
        self, turn_key: Key, reset_key: Key, state: State, action: jax.Array, params: Params
    ) -> tuple[State, State, jax.Array, jax.Array, jax.Array, Info]:
        """The turn and the reset after it; they share the draw of events and their application, as one has them."""
        scenario = params.bank[state.scenario]
        acted, turn = dynamics.transition(self.catalogue, state, scenario, params.bank, jnp.asarray(action))
        done = dynamics.is_over(acted, scenario)
        words = self.sample_words(jnp.where(done, reset_key, turn_key), CHOICE)
        fresh_draws, draws = self.split_words(words, CHOICE), self.split_words(words, 0)
        index = materialize(jnp.where(done, self.choose_scenario(fresh_draws, params), state.scenario))
        crisis = params.bank[index]  # the input of the next observation, so that it is read once
        begun = select(done, self.initial_state(index, crisis), acted).replace(scenario=index)
        after = dynamics.apply_events(begun, crisis.events, jnp.where(done, fresh_draws[CHOICE:], draws))
        last = select(done, acted, after).replace(scenario=state.scenario)
        earned, terminated, info = self.step_outputs(state, last, turn, scenario, params)
        return last, after, earned, terminated, last.clock >= scenario.horizon, info

    def step_outputs(
        self, before: State, after: State, turn: dynamics.Turn, scenario: Scenario, params: Params
    ) -> tuple[jax.Array, jax.Array, Info]:
        """The outputs of a step besides the state: (reward, terminated, info)."""
        step = reward.Step(turn, before.metrics, after.metrics, scenario)
        parts = terms.reward_parts(params.weights, step)
        info = {
            "reward_parts": parts,
            "invalid_action": ~turn.move.legal,
            "success": turn.ends.success,
            "ends": turn.ends,
        }
        return terms.total(parts), after.outcome != RUNNING, info

    def observe(self, state: State, params: Params) -> Observation:
        """The agent's knowledge; facts not looked at, the schedule of events and their probabilities do not enter."""
        return observe.observe(self.catalogue, state, params)

    def is_truncated(self, state: State, params: Params) -> jax.Array:
        """[] bool: the horizon is reached, whatever else ends."""
        return state.clock >= params.bank[state.scenario].horizon

    def is_over(self, state: State, params: Params) -> jax.Array:
        """[] bool: the crisis has ended or run out of time."""
        return dynamics.is_over(state, params.bank[state.scenario])

    def action_mask(self, state: State, params: Params) -> ActionMask:
        """[A] bool, the legal entries; all True once the crisis has ended."""
        return observe.current_mask(self.catalogue, state, params.bank[state.scenario])

    def warnings(self, params: Params) -> tuple[str, ...]:
        """A sentence for each kind of upkeep that pays for its own step, as none does under the default weights."""
        return reward.warnings(params.weights)

    def determinize(self, key: Key, state: State, params: Params) -> tuple[State, Params]:
        """The crisis as routes and values say it: facts that were never looked at are drawn, and no event comes.

        A fact has one of its values, all alike; one that can be absent is so as often. What was looked at is as of the
        last look.
        """
        crisis = params.bank[state.scenario]
        facts = observe.draw_facts(key, state, crisis)
        crisis = crisis.replace(events=crisis.events.replace(step=jnp.full_like(crisis.events.step, NEVER)))
        return state.replace(scenario=jnp.int32(0), facts=facts), params.replace(bank=params.bank.only(crisis))

    def entities(self, observation: Observation, params: Params) -> Entities:
        """Context, bounds, events, keys, milestones, routes and actions, see `features.entities` for the layout."""
        return features.entities(self.catalogue, observation)

    def generate(self, key: Key, difficulty: jax.Array | float) -> Scenario:
        """A drawn crisis, see `generator.generate`."""
        with jax.enable_x64(False):  # the same draws whether or not 64 bits are enabled
            return generator.generate(key, self.limits, difficulty)
