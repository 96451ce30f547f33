"""The base of the wrappers, and those of a few lines."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from flax import struct

from jaxenv.core import Environment, masking, spaces
from jaxenv.core.types import ActionMask, Entities, Info, Key, TurnResult
from jaxenv.host.arguments import as_index, jit_method
from jaxenv.lowering import draws
from jaxenv.wrappers.adapters import check_num_envs

REDRAW = 2**31  # folded into the key of a turn, whose own splits and draws count from 0 and stay far below


@dataclasses.dataclass(frozen=True)
class Wrapper(Environment):
    """Forwards every call to `env`; a subclass overrides methods, and `reset` and `step` follow from them.

    >>> import jaxenv
    >>> class FirstThreeSteps(jaxenv.wrappers.Wrapper):
    ...     def is_truncated(self, state, params):
    ...         return self.env.is_truncated(state, params) | (state.clock >= 3)
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> short = FirstThreeSteps(env)
    >>> short.name, short.num_actions, short.unwrapped == env
    ('LifeOps-v0', 16, True)

    Attributes:
        env: the wrapped environment; like it, the wrapper is equal and hashable by value.
    """

    env: Environment

    @property
    def name(self) -> str:
        """The wrapped environment's id."""
        return self.env.name

    @property
    def num_actions(self) -> int:
        """The size A of the action catalogue."""
        return self.env.num_actions

    @property
    def num_agents(self) -> int:
        """The wrapped environment's agents."""
        return self.env.num_agents

    @property
    def default_params(self) -> Any:
        """The wrapped environment's params."""
        return self.env.default_params

    @property
    def unwrapped(self) -> Environment:
        """The environment under all wrappers."""
        return self.env.unwrapped

    def inner(self, state: Any) -> Any:
        """The wrapped environment's state; a wrapper whose states hold more overrides this."""
        return state

    def init(self, key: Key, params: Any, scenario: jax.Array | int | None) -> Any:
        """The wrapped environment's first state."""
        return self.env.init(key, params, scenario)

    def transition(self, key: Key, state: Any, action: jax.Array, params: Any) -> TurnResult[Any]:
        """The wrapped environment's transition."""
        return self.env.transition(key, state, action, params)

    def transition_or_reset(
        self, turn_key: Key, reset_key: Key, state: Any, action: jax.Array, params: Any
    ) -> tuple[Any, Any, jax.Array, jax.Array, jax.Array, Info]:
        """The wrapped environment's transition and reset."""
        return self.env.transition_or_reset(turn_key, reset_key, state, action, params)

    def observe(self, state: Any, params: Any) -> Any:
        """The wrapped environment's observation."""
        return self.env.observe(self.inner(state), params)

    def is_truncated(self, state: Any, params: Any) -> jax.Array:
        """The wrapped environment's time limit."""
        return self.env.is_truncated(self.inner(state), params)

    def action_mask(self, state: Any, params: Any) -> ActionMask:
        """The wrapped environment's legal actions."""
        return self.env.action_mask(self.inner(state), params)

    def action_space(self, params: Any = None) -> spaces.Space:
        """The wrapped environment's actions."""
        return self.env.action_space(params)

    def observation_space(self, params: Any = None) -> spaces.Space:
        """The wrapped environment's observations."""
        return self.env.observation_space(params)

    def state_space(self, params: Any = None) -> spaces.Space:
        """The wrapped environment's states."""
        return self.env.state_space(params)

    def entities(self, observation: Any, params: Any) -> Entities:
        """The wrapped environment's entities."""
        return self.env.entities(observation, params)

    def flatten(self, observation: Any, params: Any) -> jax.Array:
        """The wrapped environment's flat vector."""
        return self.env.flatten(observation, params)

    def determinize(self, key: Key, state: Any, params: Any) -> tuple[Any, Any]:
        """The wrapped environment's worlds; a wrapper whose states hold more overrides this too."""
        return self.env.determinize(key, state, params)

    def generate(self, key: Key, difficulty: jax.Array | float) -> Any:
        """The wrapped environment's generator."""
        return self.env.generate(key, difficulty)

    def scenario_index(self, state: Any) -> jax.Array:
        """The wrapped environment's scenario."""
        return self.env.scenario_index(self.inner(state))

    def warnings(self, params: Any) -> tuple[str, ...]:
        """The wrapped environment's warnings."""
        return self.env.warnings(params)


class FlatObservation(struct.PyTreeNode):
    """The observation as one vector, and the action mask."""

    vector: jax.Array  # [F] float32, laid out as the environment's `flatten` describes
    action_mask: ActionMask  # [A] bool


@dataclasses.dataclass(frozen=True)
class FlattenObservation(Wrapper):
    """Observations become `FlatObservation(vector, action_mask)`.

    >>> import jax, jaxenv
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> env = jaxenv.wrappers.FlattenObservation(env)
    >>> observation, state = env.reset(jax.random.key(0), params)
    >>> observation.vector.shape, observation.action_mask.shape
    ((455,), (16,))
    """

    def observe(self, state: Any, params: Any) -> FlatObservation:
        """The flat observation of a state."""
        observation = self.env.observe(state, params)
        vector = self.env.flatten(observation, params)
        return FlatObservation(vector=vector, action_mask=observation.action_mask)

    def observation_space(self, params: Any = None) -> spaces.Record:
        """The space of the vector, a box of F numbers, and that of the mask."""
        shapes = jax.eval_shape(self.reset_env, jax.random.key(0), params)[0]
        most = float(jnp.finfo(jnp.float32).max)
        vector = spaces.Box(-most, most, shapes.vector.shape, jnp.float32)
        mask = spaces.Box(0, 1, shapes.action_mask.shape, bool)
        return spaces.Record.of(FlatObservation, {"vector": vector, "action_mask": mask})

    def flatten(self, observation: FlatObservation, params: Any) -> jax.Array:
        """The vector itself."""
        return observation.vector


@dataclasses.dataclass(frozen=True)
class LegalActions(Wrapper):
    """Takes a uniformly drawn legal action instead of an illegal one, and says so in `info["redrawn"]`.

    A legal action has the step that it has without the wrapper, bit for bit: the draw has a separate key. Where the
    action is illegal, or out of range, the draw is taken, so `info["invalid_action"]` is False and no penalty is due.
    `info["redrawn"]` is [] bool, [N] for N agents. The mask stays that of the environment: it says which actions are
    taken as they are. A learner does not see the drawn action, so one that can use the mask should.

    >>> import jax, jaxenv
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> env = jaxenv.wrappers.LegalActions(env)
    >>> observation, state = env.reset(jax.random.key(0), params, scenario=3)
    >>> *_, info = env.step(jax.random.key(1), state, 99, params)  # of 16 actions
    >>> bool(info["redrawn"]), bool(info["invalid_action"])
    (True, False)
    """

    def transition(self, key: Key, state: Any, action: jax.Array, params: Any) -> TurnResult[Any]:
        """The wrapped environment's transition by a legal action."""
        action, redrawn = self._legal(key, state, action, params)
        state, reward, terminated, info = self.env.transition(key, state, action, params)
        return state, reward, terminated, {**info, "redrawn": redrawn}

    def transition_or_reset(
        self, turn_key: Key, reset_key: Key, state: Any, action: jax.Array, params: Any
    ) -> tuple[Any, Any, jax.Array, jax.Array, jax.Array, Info]:
        """The wrapped environment's transition and reset by a legal action."""
        action, redrawn = self._legal(turn_key, state, action, params)
        last, after, reward, terminated, truncated, info = self.env.transition_or_reset(
            turn_key, reset_key, state, action, params
        )
        return last, after, reward, terminated, truncated, {**info, "redrawn": redrawn}

    def _legal(self, key: Key, state: Any, action: jax.Array, params: Any) -> tuple[jax.Array, jax.Array]:
        """(legal actions, whether each is a draw), int32 and bool of the shape of `action`."""
        action = jnp.asarray(action, jnp.int32)
        mask = self.action_mask(state, params)
        is_legal = jnp.any(mask & jax.nn.one_hot(action, self.num_actions, dtype=bool), axis=-1)  # zeros out of range
        drawn = masking.sample_uniform(draws.fold_in(key, REDRAW), mask)
        return jnp.where(is_legal, action, drawn), ~is_legal


def five_values(
    observation: Any, state: Any, reward: jax.Array, terminated: jax.Array, truncated: jax.Array, info: Info
) -> tuple[Any, Any, jax.Array, jax.Array, dict[str, Any]]:
    """(observation, state, reward, done [] bool, info).

    `info["discount"]`, [] float32, is 0 after a natural end, else 1, so that a value is bootstrapped where the time
    limit cut it off.
    """
    discount = 1.0 - terminated.astype(jnp.float32)
    return observation, state, reward, terminated | truncated, {**info, "discount": discount}


@dataclasses.dataclass(frozen=True)
class LegacyStep(Wrapper):
    """`step` returns five values; only `Vectorize` may wrap this wrapper.

    >>> import jax, jaxenv
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> env = jaxenv.wrappers.LegacyStep(env)
    >>> observation, state = env.reset(jax.random.key(0), params, scenario=3)
    >>> observation, state, reward, done, info = env.step(jax.random.key(1), state, 0, params)
    >>> bool(done), float(info["discount"])
    (False, 1.0)
    """

    @jit_method
    def step(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, key: Key, state: Any, action: jax.Array | int, params: Any = None
    ) -> tuple[Any, Any, jax.Array, jax.Array, dict[str, Any]]:
        """Takes one step, see `five_values`; info still has `terminated` and `truncated`."""
        return five_values(*self.env.step(key, state, action, params))


@dataclasses.dataclass(frozen=True)
class Vectorize:
    """`reset` and `step` over a leading axis [B] of states, actions and results; params are shared.

    The key is split into B, so a batch has the same bits as B calls with those keys.

    >>> import jax, jaxenv
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> many = jaxenv.wrappers.Vectorize(env, 4)
    >>> observation, state = many.reset(jax.random.key(0), params)
    >>> observation.action_mask.shape, state.scenario.shape
    ((4, 16), (4,))

    Attributes:
        env: the environment, wrapped or not.
        num_envs: B.
    """

    env: Environment
    num_envs: int

    def __post_init__(self) -> None:
        """Rejects an empty batch."""
        check_num_envs(self.num_envs, "Vectorize")

    @jit_method
    def reset(self, key: Key, params: Any = None, scenario: jax.Array | None = None) -> tuple[Any, Any]:
        """Starts B episodes, of the given scenarios ([B] int32) or of scenarios drawn at random."""
        if scenario is not None:
            scenario = as_index("scenario", scenario, (self.num_envs,), self.env.name)
        keys = draws.split(key, self.num_envs)
        return jax.vmap(self.env.reset_env, in_axes=(0, None, 0))(keys, params, scenario)

    @jit_method
    def step(
        self, key: Key, state: Any, action: jax.Array, params: Any = None
    ) -> tuple[Any, Any, jax.Array, jax.Array, jax.Array, Info]:
        """Takes one step in all B episodes and resets those that end."""
        action = as_index("action", action, (self.num_envs, *self.env.action_shape), self.env.name)
        keys = draws.split(key, self.num_envs)
        return jax.vmap(self.env.step, in_axes=(0, 0, 0, None))(keys, state, action, params)
