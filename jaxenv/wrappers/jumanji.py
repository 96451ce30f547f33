"""An environment with Jumanji's interface: params stored inside, and a state that carries its key."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from flax import struct
from jumanji import env as base
from jumanji import specs, types

from jaxenv.core import Environment
from jaxenv.core.terms import by_name
from jaxenv.core.types import ActionMask, Info, Key
from jaxenv.host.arguments import jit_method
from jaxenv.lowering import draws
from jaxenv.wrappers.adapters import resolve
from jaxenv.wrappers.wrapper import FlattenObservation


class JumanjiState(struct.PyTreeNode):
    """The environment's state, and values that Jumanji's signatures have no room for."""

    env_state: Any
    key: Key  # of the next step; Jumanji's step takes none
    step_count: jax.Array  # [] int32, steps of the episode so far


class JumanjiObservation(NamedTuple):
    """The observation for agents of Jumanji, Stoix and Mava, under their names; for N agents with a leading axis N."""

    agent_view: jax.Array  # [F] float32, laid out as the environment's `flatten` describes
    action_mask: ActionMask  # [A] bool
    step_count: jax.Array  # [] int32, steps of the episode so far


class Jumanji(base.Environment):
    """A `jumanji.env.Environment`; nothing resets by itself, Jumanji's `AutoResetWrapper` does that.

    An illegal action incurs its penalty and uses up a step. The last time step of an episode has discount 0 after a
    natural end and 1 at the time limit. Extras are those of `step_metrics`, zeros at a reset. Of N > 1 agents the
    actions, rewards and discounts have the shape [N], as in Jumanji's environments of several agents. Jumanji has no
    params, so those given here are constants of every compiled program; other params need another wrapper.

    >>> import jax, jaxenv
    >>> env = jaxenv.wrappers.Jumanji("LifeOps-v0")
    >>> state, timestep = jax.eval_shape(env.reset, jax.random.key(0))
    >>> timestep.observation.agent_view.shape, timestep.observation.action_mask.shape
    ((455,), (16,))
    >>> state, timestep = jax.eval_shape(env.step, state, env.action_spec.generate_value())
    >>> timestep.reward.shape, sorted(timestep.extras)[0]
    ((), 'invalid_action')

    Attributes:
        env: the environment, wrapped or not, which defines `flatten`.
        params: its params.
        num_agents: N.
    """

    def __init__(self, id_or_env: str | Environment, params: Any = None) -> None:
        """Wraps an environment (or that of an id) with params, by default its own."""
        self.env, self.params = resolve(id_or_env, params)
        self.num_agents = self.env.num_agents
        self._flat = FlattenObservation(self.env)
        self._no_extras = zero_metrics(self.env, self.params)
        super().__init__()

    def __repr__(self) -> str:
        return f"Jumanji({self.env.name!r})"

    @functools.partial(jax.jit, static_argnums=0)
    def reset(self, key: Key) -> tuple[JumanjiState, Any]:
        """Starts an episode in a scenario drawn with `key`: (state, time step of type FIRST)."""
        first_key, key = draws.split(key)
        state = JumanjiState(self._flat.init(first_key, self.params, None), key, jnp.int32(0))
        timestep = types.restart(
            self._observe(state), extras=dict(self._no_extras), shape=self.env.action_shape, dtype=jnp.float32
        )
        return state, timestep

    @jit_method
    def step(self, state: JumanjiState, action: jax.Array) -> tuple[JumanjiState, Any]:
        """One turn: (state, time step of type MID or LAST); `action` is [] int32, or [N] for N agents."""
        turn_key, key = draws.split(state.key)
        env_state, reward, terminated, info = self._flat.transition(turn_key, state.env_state, action, self.params)
        state = JumanjiState(env_state, key, state.step_count + 1)
        is_last = terminated | self._flat.is_truncated(env_state, self.params)
        timestep = types.TimeStep(
            step_type=jnp.where(is_last, types.StepType.LAST, types.StepType.MID),
            reward=reward,
            discount=jnp.broadcast_to(jnp.where(terminated, jnp.float32(0), jnp.float32(1)), self.env.action_shape),
            observation=self._observe(state),
            extras=step_metrics(info),
        )
        return state, timestep

    @functools.cached_property
    def observation_spec(self) -> Any:
        """The fields of `JumanjiObservation`."""
        space: Any = self._flat.observation_space(self.params)
        view, mask = space["vector"], space["action_mask"]
        return specs.Spec(
            JumanjiObservation,
            "ObservationSpec",
            agent_view=specs.Array(view.shape, view.dtype, "agent_view"),
            action_mask=specs.BoundedArray(mask.shape, mask.dtype, False, True, "action_mask"),
            step_count=specs.Array((), jnp.int32, "step_count"),
        )

    @functools.cached_property
    def action_spec(self) -> Any:
        """An index of the catalogue, [] int32, or one for each agent, [N] int32."""
        if self.num_agents == 1:
            return specs.DiscreteArray(self.env.num_actions, name="action")
        return specs.MultiDiscreteArray(jnp.full(self.env.action_shape, self.env.num_actions, jnp.int32), name="action")

    @functools.cached_property
    def reward_spec(self) -> Any:
        """[] float32, or [N] float32."""
        return specs.Array(self.env.action_shape, jnp.float32, "reward")

    @functools.cached_property
    def discount_spec(self) -> Any:
        """[] float32 in [0, 1], or [N] float32."""
        return specs.BoundedArray(self.env.action_shape, jnp.float32, 0.0, 1.0, "discount")

    def _observe(self, state: JumanjiState) -> JumanjiObservation:
        """The agents' observation of a state."""
        flat = self._flat.observe(state.env_state, self.params)
        return JumanjiObservation(flat.vector, flat.action_mask, state.step_count)


def step_metrics(info: Info) -> dict[str, jax.Array]:
    """`reward_<name>` ([] float32, [N] for N agents) for each part of the reward, `invalid_action` and `success`.

    `success` is there if the environment reports it.
    """
    rewards = {f"reward_{name}": part for name, part in by_name(info["reward_parts"]).items()}
    return rewards | {name: info[name] for name in ("invalid_action", "success") if name in info}


def zero_metrics(env: Environment, params: Any) -> dict[str, jax.Array]:
    """Those of the start of an episode: the names, shapes and dtypes of `step_metrics`, all zero or False.

    >>> import jaxenv
    >>> metrics = zero_metrics(*jaxenv.make("LifeOps-v0"))
    >>> metrics["invalid_action"].dtype, metrics["reward_overlap_penalty"].dtype
    (dtype('bool'), dtype('float32'))
    """

    def first_step(key: jax.Array) -> dict[str, jax.Array]:
        action = jnp.zeros(env.action_shape, jnp.int32)
        return step_metrics(env.transition(key, env.init(key, params, None), action, params)[-1])

    shapes = jax.eval_shape(first_step, jax.random.key(0))
    return {name: jnp.zeros(metric.shape, metric.dtype) for name, metric in shapes.items()}
