"""The contract of an environment: pure functions over fixed shapes, and an automatic reset that costs an index draw."""

import abc
import dataclasses
import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import jax
import jax.numpy as jnp

from jaxenv.core import fields, spaces
from jaxenv.core.bank import ScenarioBank
from jaxenv.core.contents import require_within, with_difficulty
from jaxenv.core.types import ActionMask, Entities, Info, Key, Policy, StatefulPolicy, StateT, TurnResult, dense
from jaxenv.host.arguments import as_index, jit_method
from jaxenv.lowering import draws
from jaxenv.lowering.batches import vary_alike
from jaxenv.lowering.materialize import materialize

ParamsT = TypeVar("ParamsT")
ObservationT = TypeVar("ObservationT")


class Environment(abc.ABC, Generic[ParamsT, StateT, ObservationT]):
    """An environment is a value: a frozen dataclass whose fields are static sizes, equal and hashable by them.

    A subclass writes `name`, `num_actions`, `default_params`, `init`, `transition`, `observe`, `is_truncated`,
    `action_mask`, `observation_space` and `state_space`. Composed here are `reset` and `step`, `reset_env` (without
    jit) and `step_env` (without jit and automatic reset). Everything numeric is in `params`, so a changed number never
    recompiles and `jax.vmap` over params is a sweep. The signatures of `reset` and `step` are those of gymnax 1.x.

    Params have a `bank` (a `ScenarioBank`) and `max_steps_in_episode`, an upper bound on the steps of an episode.
    `jaxenv.core.types.Info` lists the entries of `info`. Training also needs `entities`, and `generate` for generated
    scenarios.

    >>> import jax, jaxenv
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> observation, state = env.reset(jax.random.key(0), params, scenario=3)
    >>> observation, state, reward, terminated, truncated, info = env.step(jax.random.key(1), state, 0, params)
    >>> float(info["reward_parts"].overlap_penalty), bool(info["invalid_action"])
    (-5.0, False)
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Composes the automatic reset anew in a class that changes one of its parts without it.

        Its `generate` never receives a difficulty below 0, see `jaxenv.core.contents.as_difficulty`.
        """
        super().__init_subclass__(**kwargs)
        if vars(cls).get("generate", Environment.generate) is not Environment.generate:
            cls.generate = with_difficulty(cls.generate)
        if "transition_or_reset" not in vars(cls) and vars(cls).keys() & {"init", "transition", "is_truncated"}:
            cls.transition_or_reset = Environment.transition_or_reset

    # Implemented by subclasses -----------------------------------------------------------------------------------

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The id, for example `LifeOps-v0`."""

    @property
    @abc.abstractmethod
    def num_actions(self) -> int:
        """The size A of the action catalogue."""

    @property
    @abc.abstractmethod
    def default_params(self) -> ParamsT:
        """The params that `jaxenv.make` returns: published weights and the shipped scenario bank."""

    @property
    def num_agents(self) -> int:
        """N; with more than one, actions, masks, rewards and observations have a leading axis N."""
        return 1

    @property
    def action_shape(self) -> tuple[int, ...]:
        """The shape of an action and of a reward: (N,) for several agents, () for one."""
        return (self.num_agents,) if self.num_agents > 1 else ()

    @abc.abstractmethod
    def init(self, key: Key, params: ParamsT, scenario: jax.Array | int | None) -> StateT:
        """The first state of a scenario (an index of `params.bank`), or of one drawn with `key` where it is None."""

    @abc.abstractmethod
    def transition(self, key: Key, state: StateT, action: jax.Array, params: ParamsT) -> TurnResult[StateT]:
        """One turn: (next state, reward [] float32, terminated [] bool, info); natural ends only.

        `info` has `reward_parts`, a record or dictionary of float32 terms that sum to the reward, and `invalid_action`,
        [] bool ([N] for N agents): whether the action was illegal by `action_mask`. `step` adds the rest.
        """

    @abc.abstractmethod
    def observe(self, state: StateT, params: ParamsT) -> ObservationT:
        """The agent's observation of a state; only this function limits the agent's knowledge."""

    @abc.abstractmethod
    def is_truncated(self, state: StateT, params: ParamsT) -> jax.Array:
        """[] bool: the time limit is reached.

        An environment documents whether it is also true where the episode terminates by then; a learner bootstraps only
        where `terminated` is False.
        """

    @abc.abstractmethod
    def action_mask(self, state: StateT, params: ParamsT) -> ActionMask:
        """[A] bool, the same as `observe(state, params).action_mask`; all true once the episode is over."""

    def action_space(self, params: ParamsT | None = None) -> spaces.Space:
        """The catalogue, 0 .. A − 1; for N agents a box of N entries."""
        if self.num_agents > 1:
            return spaces.Box(0, self.num_actions - 1, self.action_shape, jnp.int32)
        return spaces.Discrete(self.num_actions)

    @abc.abstractmethod
    def observation_space(self, params: ParamsT | None = None) -> spaces.Space:
        """The space that every observation lies in."""

    @abc.abstractmethod
    def state_space(self, params: ParamsT | None = None) -> spaces.Space:
        """The space that every state lies in."""

    def entities(self, observation: ObservationT, params: ParamsT) -> Entities:
        """The observation as entities with features, for networks; an environment describes its layout here."""
        raise NotImplementedError(f"{self.name} describes no entities")

    def flatten(self, observation: ObservationT, params: ParamsT) -> jax.Array:
        """[F] float32: the entities in one row, context first, then the groups by name, then the actions."""
        parts = self.entities(observation, params)
        tables = [parts.groups[name].features.ravel() for name in sorted(parts.groups)]
        return jnp.concatenate([parts.context, *tables, dense(parts.actions).ravel()])

    def generate(self, key: Key, difficulty: jax.Array | float) -> Any:
        """One scenario drawn at a difficulty in [0, 1]; jittable, to be stacked into a `ScenarioBank` by `jax.vmap`.

        Values above 1 are never drawn in training and test out of distribution; the rules describe their effect. Values
        below 0, NaN and infinity raise a ValueError; if the difficulty is traced, negative and NaN values become 0.
        """
        raise NotImplementedError(f"{self.name} has no generator")

    def determinize(self, key: Key, state: StateT, params: ParamsT) -> tuple[StateT, ParamsT]:
        """A world that looks the same to the agent: (state, params), with what it has not seen drawn anew.

        The params hold one scenario. A search from several such worlds plans without knowing which is true
        (determinization). What it draws anew, and what it takes for known, an environment says here.
        """
        raise NotImplementedError(f"{self.name} cannot draw anew what is hidden")

    def scenario_index(self, state: Any) -> jax.Array:
        """[] int32: the index of `params.bank` that an episode plays, so that a bank may change wherever none plays.

        It is `state.scenario`; an environment that keeps it elsewhere says so here.
        """
        return state.scenario

    def warnings(self, params: ParamsT) -> tuple[str, ...]:
        """Warnings about the numbers of `params`, a sentence each (host side)."""
        return ()

    @property
    def unwrapped(self) -> "Environment":
        """The environment under all wrappers; without one, the environment itself."""
        return self

    @property
    def family(self) -> str:
        """The part of the id before the first hyphen, in lower case: the ids of a family share documents."""
        return self.name.split("-")[0].lower()

    # Called by users ---------------------------------------------------------------------------------------------

    @jit_method
    def reset(
        self, key: Key, params: ParamsT | None = None, scenario: jax.Array | int | None = None
    ) -> tuple[ObservationT, StateT]:
        """Starts an episode of `scenario` (an index of the bank), or of one drawn with `key`.

        Here and below, omitted params are `default_params`, as constants of the program.
        """
        return self.reset_env(key, params, scenario)

    @jit_method
    def step(
        self, key: Key, state: StateT, action: jax.Array | int, params: ParamsT | None = None
    ) -> tuple[ObservationT, StateT, jax.Array, jax.Array, jax.Array, Info]:
        """One turn, and a new episode at once where it ends the old one.

        Returns:
            (observation, state, reward, terminated, truncated, info). Where an episode ends, observation and state
            are those of the next one and `info["final_observation"]` is the last one of the old.
        """
        params = self.default_params if params is None else params
        turn_key, reset_key = draws.split(key)
        last, after, reward, terminated, truncated, info = self.transition_or_reset(
            turn_key, reset_key, state, self._index(action), params
        )
        info = {
            **info,
            "terminated": terminated,
            "truncated": truncated,
            "final_observation": self.observe(last, params),
        }
        return vary_alike((self.observe(after, params), after, reward, terminated, truncated, info))

    def transition_or_reset(
        self, turn_key: Key, reset_key: Key, state: StateT, action: jax.Array, params: ParamsT
    ) -> tuple[StateT, StateT, jax.Array, jax.Array, jax.Array, Info]:
        """One turn and the automatic reset: (last state, next state, reward, terminated, truncated, info).

        The next state is the last one, or a fresh one where the episode is over. An environment may override this to
        share work between a turn and a reset, with the same results; a subclass of it that overrides `init`,
        `transition` or `is_truncated` and not this has the composition of these again.
        """
        last, reward, terminated, info = self.transition(turn_key, state, action, params)
        truncated = self.is_truncated(last, params)
        after = select(materialize(terminated | truncated), self.init(reset_key, params, None), last)
        return last, after, reward, terminated, truncated, info

    def reset_env(
        self, key: Key, params: ParamsT | None = None, scenario: jax.Array | int | None = None
    ) -> tuple[ObservationT, StateT]:
        """`reset` without jit, to be composed into a larger program."""
        params = self.default_params if params is None else params
        scenario = None if scenario is None else as_index("scenario", scenario, (), self.name)
        state = self.init(key, params, scenario)
        return vary_alike((self.observe(state, params), state))

    def step_env(
        self, key: Key, state: StateT, action: jax.Array | int, params: ParamsT | None = None
    ) -> tuple[ObservationT, StateT, jax.Array, jax.Array, Info]:
        """One turn without automatic reset: (observation, state, reward, terminated, info)."""
        params = self.default_params if params is None else params
        state, reward, terminated, info = self.transition(key, state, self._index(action), params)
        return vary_alike((self.observe(state, params), state, reward, terminated, info))

    def _index(self, action: Any) -> jax.Array:
        """An action as int32, [] or [N] for N agents."""
        return as_index("action", action, self.action_shape, self.name)


class LibraryEnvironment(Environment[ParamsT, StateT, ObservationT]):
    """An environment whose params hold a bank; without another, the one that is shipped beside its code.

    Its spaces and the padding of its scenarios follow from its records, which declare them (`jaxenv.core.fields`).

    Attributes:
        library: the shipped bank, a file as `ScenarioBank.save` writes it; without one override `default_params`.
        scenario_type: the record of a scenario.
        state_type: the record of a state.
        observation_type: the record of an observation.
        limits: the capacities of its arrays, whose `sizes` are by axis.
        catalogue: the meaning of the action indices, whose `size` is A.
    """

    library: ClassVar[Path]
    scenario_type: ClassVar[type]
    state_type: ClassVar[type]
    observation_type: ClassVar[type]
    limits: Any
    catalogue: Any

    @property
    def num_actions(self) -> int:
        """The size A of the action catalogue."""
        return self.catalogue.size

    @property
    def sizes(self) -> fields.Sizes:
        """Axis -> length, for the axes that the records name: the capacities, and A actions."""
        return {**self.limits.sizes, "A": self.num_actions}

    @property
    def empty_scenario(self) -> Any:
        """A scenario of padding only, as NumPy arrays in the shapes of this environment."""
        return fields.padding(self.scenario_type, self.sizes)

    @property
    def empty_state(self) -> Any:
        """A state of padding only, as arrays in the shapes of this environment: `init` replaces what differs."""
        return jax.tree.map(jnp.asarray, fields.padding(self.state_type, self.sizes))

    def observation_space(self, params: ParamsT | None = None) -> spaces.Record:
        """A space for each field of the observation."""
        return fields.space(self.observation_type, self.sizes)

    def state_space(self, params: ParamsT | None = None) -> spaces.Record:
        """A space for each field of the state."""
        return fields.space(self.state_type, self.sizes)

    @abc.abstractmethod
    def make_params(self, bank: ScenarioBank) -> ParamsT:
        """The default params around a bank in the shapes of this environment; call it through `params_for`."""

    def params_for(self, bank: ScenarioBank) -> ParamsT:
        """The default params with another bank, brought to the shapes of this environment (host side).

        Raises:
            ValueError: if a scenario exceeds the limits, or a number lies outside the bounds of its field.
        """
        resized = bank.resize(self.empty_scenario)
        require_within(fields.space(self.scenario_type, self.sizes), resized.scenarios)
        return self.make_params(resized)

    @property
    def default_params(self) -> ParamsT:
        """The scenarios of the library and the numbers of the rules."""
        # Arrays, not tracers, even inside a jit; the transfer to the device is intended.
        with jax.ensure_compile_time_eval(), jax.transfer_guard("allow"):
            return self.params_for(ScenarioBank.load(self.library, self.empty_scenario))


@dataclasses.dataclass(frozen=True)
class Family:
    """The row that a new family of environments adds to `jaxenv.envs.FAMILIES`.

    Its folder `jaxenv/envs/NAME/` has the engine, the generator, the features, `baseline.py` and `view/`; its documents
    lie in `scenarios/NAME/`.

    Attributes:
        name: of these folders.
        environment: the class of all its ids.
        ids: id -> a function that builds its environment; its arguments are those of `jaxenv.make`.
        baselines: environment -> name -> rule-based policy.
    """

    name: str
    environment: type[Environment]
    ids: Mapping[str, Callable[..., Environment]]
    baselines: Callable[[Any], Mapping[str, Policy | StatefulPolicy]]

    @property
    def view(self) -> Any:
        """The `jaxenv.rendering.View` that shows its states, imported here since only pictures and texts need it."""
        return importlib.import_module(f"jaxenv.envs.{self.name}.view").VIEW


def select(condition: jax.Array, one: StateT, other: StateT) -> StateT:
    """Selects `one` where `condition` ([] bool) holds, otherwise `other`: two records of the same shapes."""
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), one, other)
