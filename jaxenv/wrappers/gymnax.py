"""Environments for programs written for gymnax, which finds them by id, and those of gymnax for programs of jaxenv."""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
from flax import struct
from jax.core import Tracer

from jaxenv.core import Environment, spaces
from jaxenv.core.types import ActionMask, Key, TurnResult
from jaxenv.host.arguments import jit_method
from jaxenv.host.companions import optional
from jaxenv.wrappers.adapters import as_their_space, check_one_agent, extend_make, registry, their_spaces
from jaxenv.wrappers.wrapper import FlattenObservation, five_values

_STEPS: dict[str, int] = {}  # by id, as the last call of `register_gymnax` says


def register_gymnax(steps: int = 6) -> None:
    """Makes `gymnax.make` build every registered environment of one agent, under `Gymnax`: (environment, params).

    Its other arguments are those of `jaxenv.make`. A later call adds new registrations, and its `steps` count
    for every environment made from then on. An id that gymnax has already stays gymnax's. In a gymnax before 1.0,
    which has no `register`, `gymnax.make` is replaced by a function that knows both: import it after this call.
    evosax, which makes a shape of the time limit, has to be given its `episode_length`.

    A learner without mask support can have an environment that needs no mask, under a separate id:

    >>> import gymnax, jaxenv
    >>> def without_masks():
    ...     env, _ = jaxenv.make("TeamsClone-v0")
    ...     return jaxenv.wrappers.LegalActions(env)
    >>> jaxenv.register("TeamsClone-WithoutMasks-v0", without_masks)
    >>> jaxenv.wrappers.register_gymnax(steps=5)
    >>> env, params = gymnax.make("TeamsClone-WithoutMasks-v0")
    >>> env.name, env.steps
    ('TeamsClone-v0', 5)

    Args:
        steps: the values of a step: 6, as the programs of gymnax 1.x expect (its `LogWrapper`), or 5, as PureJaxRL and
            others from before.

    Raises:
        ImportError: if gymnax is not installed.
        ValueError: for other `steps`.
    """
    check_steps(steps)
    registration = optional("gymnax.registration", "register_gymnax")
    ids = [id for id in registry().registered() if registry().build(id).num_agents == 1]
    _STEPS.update(dict.fromkeys(ids, steps))
    if not hasattr(registration, "register"):
        extend_make("gymnax", {id: functools.partial(_made_with_params, id) for id in ids})
        return
    for id in ids:
        if id not in registration.registered_envs:
            registration.register(id, functools.partial(_made, id))


# Not frozen: gymnax's vector wrapper replaces reset and step of its copy by batched ones.
@dataclasses.dataclass(unsafe_hash=True)
class Gymnax:
    """`reset`, `step` and spaces as gymnax's learners and wrappers call them, over the flat vector of one agent.

    gymnax does not support masks: an illegal action incurs its penalty and uses up a step, or is drawn anew under
    `LegalActions`. A learner that can use a mask calls `action_mask`. Params are the environment's own.

    >>> import jax, jaxenv
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> env = jaxenv.wrappers.Gymnax(env, steps=5)
    >>> vector, state = env.reset(jax.random.key(0), params)
    >>> vector, state, reward, done, info = jax.eval_shape(env.step, jax.random.key(1), state, 0, params)
    >>> vector.shape, done.dtype, sorted(info)
    ((455,), dtype('bool'), ['discount', 'terminated', 'truncated'])

    Attributes:
        env: the environment, wrapped or not, which defines `flatten`.
        steps: the number of values that `step` returns, 6 as in gymnax 1.x or 5 as before (see `LegacyStep`). With
            six, `info` has everything, as a learner needs for `final_observation`. With five, it has `terminated`,
            `truncated`, `discount` and, if the environment reports it, `success`, an array [] each: such learners
            keep `info` for a whole rollout, or average all its entries.
        name: the environment's id.
        num_actions: the size A of its action catalogue.
    """

    env: Environment
    steps: int = 6

    def __post_init__(self) -> None:
        """Rejects other numbers of values, and several agents."""
        check_steps(self.steps)
        check_one_agent(self.env, "Gymnax")
        self._flat = FlattenObservation(self.env)
        self.name, self.num_actions = self.env.name, self.env.num_actions

    @property
    def default_params(self) -> Any:
        """The environment's params; gymnax reads their `max_steps_in_episode`."""
        return self.env.default_params

    @jit_method
    def reset(self, key: Key, params: Any = None) -> tuple[jax.Array, Any]:
        """Starts an episode: (vector [F] float32, state)."""
        observation, state = self._flat.reset_env(key, params)
        return observation.vector, state

    @jit_method
    def step(self, key: Key, state: Any, action: jax.Array, params: Any = None) -> tuple[Any, ...]:
        """Takes one step, and resets at once where it ends the episode.

        Returns:
            (vector [F] float32, state, reward [] float32, terminated [] bool, truncated [] bool, info), or with
            `done` instead of `terminated` and `truncated`. `final_observation` of six values is a vector as well.
        """
        observation, state, reward, terminated, truncated, info = self._flat.step(key, state, action, params)
        result = (observation.vector, state, reward, terminated, truncated)
        if self.steps == 6:
            return *result, {**info, "final_observation": info["final_observation"].vector}
        plain = {name: info[name] for name in ("terminated", "truncated", "success") if name in info}
        return five_values(*result, plain)

    def action_mask(self, state: Any, params: Any = None) -> ActionMask:
        """[A] bool, the legal actions of a state."""
        return self.env.action_mask(state, self.default_params if params is None else params)

    def action_space(self, params: Any = None) -> Any:
        """The actions, as a space of gymnax."""
        return as_their_space(their_spaces("Gymnax"), self.env.action_space(params))

    def observation_space(self, params: Any = None) -> Any:
        """A box of F numbers, as a space of gymnax."""
        return as_their_space(their_spaces("Gymnax"), self._flat.observation_space(params)["vector"])

    def state_space(self, params: Any = None) -> Any:
        """The states, as a space of gymnax."""
        return as_their_space(their_spaces("Gymnax"), self.env.state_space(params))


def check_steps(steps: int) -> None:
    """Rejects numbers of values that no gymnax has.

    Raises:
        ValueError: for another number than 5 or 6.
    """
    if steps not in (5, 6):
        raise ValueError(f"Gymnax(steps={steps!r}): expected 6 values, or 5 as before gymnax 1.0")


def _made(id: str, **static: Any) -> Gymnax:
    """The result of `gymnax.make`."""
    return Gymnax(registry().build(id, **static), steps=_STEPS[id])


def _made_with_params(id: str, **static: Any) -> tuple[Gymnax, Any]:
    """The result of `gymnax.make` before 1.0."""
    env = _made(id, **static)
    return env, env.default_params


class GymnaxState(struct.PyTreeNode):
    """The environment's state and last observation: some observations do not follow from the state."""

    env_state: Any
    observation: jax.Array


class GymnaxObservation(struct.PyTreeNode):
    """The environment's observation."""

    array: jax.Array
    action_mask: ActionMask  # [A] bool, all True: gymnax knows no illegal actions


@dataclasses.dataclass(frozen=True)
class FromGymnax(Environment):
    """A gymnax environment with discrete actions, of gymnax 1.0 or later, which separates truncation from termination.

    Its params are the environment's own. They have no bank of scenarios: each episode starts as gymnax starts it.

    >>> import gymnax, jax, jaxenv
    >>> env = jaxenv.wrappers.FromGymnax(gymnax.make("CartPole-v1")[0])
    >>> observation, state = env.reset(jax.random.key(0), env.default_params)
    >>> env.name, env.num_actions, observation.array.shape
    ('CartPole-v1', 2, (4,))

    Attributes:
        env: the gymnax environment; two wrappers are equal if it is the same object.
    """

    env: Any

    def __post_init__(self) -> None:
        """Rejects environments without the step of gymnax 1.0, discrete actions, or arrays as observations."""
        if not (hasattr(self.env, "step_env") and hasattr(self.env, "is_truncated")):
            raise TypeError(f"FromGymnax expects an environment of gymnax 1.0 or later, got {self.env!r}")
        theirs, params = their_spaces("Gymnax"), self.env.default_params
        actions, observations = self.env.action_space(params), self.env.observation_space(params)
        if not (isinstance(actions, theirs.Discrete) and isinstance(observations, theirs.Box)):
            found = f"{type(actions).__name__} and {type(observations).__name__}"
            raise TypeError(f"FromGymnax expects discrete actions and a box of observations, {self.name} has {found}")

    @property
    def name(self) -> str:
        """The name that gymnax gives it."""
        return self.env.name

    @property
    def num_actions(self) -> int:
        """The size A of the action catalogue."""
        return self.env.num_actions

    @property
    def default_params(self) -> Any:
        """The environment's params, with arrays instead of Python numbers."""
        return jax.tree.map(jnp.asarray, self.env.default_params)

    def init(self, key: Key, params: Any, scenario: jax.Array | int | None) -> GymnaxState:
        """The first state; there is one scenario, whatever its index."""
        observation, state = self.env.reset_env(key, params)
        # Their first states have Python numbers and other dtypes than later ones.
        _, later, *_ = jax.eval_shape(self.env.step_env, key, state, jnp.int32(0), params)
        state = jax.tree.map(lambda x, like: jnp.asarray(x, like.dtype), state, later)
        return GymnaxState(state, jnp.asarray(observation, jnp.float32))

    def transition(self, key: Key, state: GymnaxState, action: jax.Array, params: Any) -> TurnResult[GymnaxState]:
        """One step without reset; the time limit is in `is_truncated`."""
        observation, env_state, reward, terminated, _ = self.env.step_env(key, state.env_state, action, params)
        reward = jnp.asarray(reward, jnp.float32).reshape(())
        info = {"reward_parts": {"reward": reward}, "invalid_action": jnp.bool_(False)}
        following = GymnaxState(env_state, jnp.asarray(observation, jnp.float32))
        return following, reward, jnp.asarray(terminated, bool), info

    def observe(self, state: GymnaxState, params: Any) -> GymnaxObservation:
        """The environment's observation."""
        return GymnaxObservation(state.observation, self.action_mask(state, params))

    def is_truncated(self, state: GymnaxState, params: Any) -> jax.Array:
        """[] bool: the time limit is reached."""
        return jnp.asarray(self.env.is_truncated(state.env_state, params), bool)

    def action_mask(self, state: GymnaxState, params: Any) -> ActionMask:
        """[A] bool, all True."""
        return jnp.ones(self.num_actions, bool)

    def observation_space(self, params: Any = None) -> spaces.Space:
        """Arrays of the shape that gymnax declares, within its bounds; for traced params, those of the default ones."""
        is_known = params is not None and not any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(params))
        with jax.ensure_compile_time_eval():
            box = self.env.observation_space(params if is_known else self.default_params)
            low, high = float(jnp.min(jnp.asarray(box.low))), float(jnp.max(jnp.asarray(box.high)))
        array = spaces.Box(low, high, tuple(box.shape), jnp.float32)
        mask = spaces.Box(0, 1, (self.num_actions,), bool)
        return spaces.Record.of(GymnaxObservation, {"array": array, "action_mask": mask})

    def state_space(self, params: Any = None) -> spaces.Space:
        """Unknown: the states that gymnax declares are not always those that occur."""
        raise NotImplementedError(f"{self.name} of gymnax declares no dependable space of states")

    def flatten(self, observation: GymnaxObservation, params: Any) -> jax.Array:
        """[F] float32: the array in one row."""
        return observation.array.reshape(-1)
