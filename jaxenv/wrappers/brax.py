"""An environment with Brax's interface: one record for state and results, and actions that are vectors."""

import functools
from typing import Any

import jax
import jax.numpy as jnp

# Not installed where the types are checked, since it brings MuJoCo.
from brax.envs import base  # pyright: ignore[reportMissingImports]

from jaxenv.core import Environment, draws, masking
from jaxenv.core.types import ActionMask, Key
from jaxenv.wrappers.flatten_observation import FlattenObservation
from jaxenv.wrappers.resolve import one_agent
from jaxenv.wrappers.step_metrics import step_metrics, zero_metrics


class Brax(base.Env):
    """A `brax.envs.base.Env` of one agent, for Brax's training wrappers and its learners of continuous actions.

    An action is [A] float32, a score for each entry of the catalogue, and the legal entry with the highest score is
    taken, the first of equal ones. So the policies of Brax's PPO, SAC, ES and ARS act without change and never
    illegally, and a one-hot vector takes the entry that it names, if it is legal. The observation is the flat vector
    [F] float32, without a mask, which `action_mask` returns. The highest score has no gradient: APG, which
    differentiates through the environment, cannot learn here.

    `done` ([] float32) is either end, and `info["truncation"]` ([] float32) is 1 where it is the time limit alone.
    `EpisodeWrapper` replaces the latter by its own time limit, after which Brax's learners see the environment's
    limit as a natural end. `metrics` are those of `step_metrics` without `invalid_action`, as float32.

    `AutoResetWrapper` starts each lane of a batch in the same first state again and again, so training sees as many
    scenarios as there are lanes, while the key in `info["rng"]` goes on. `EpisodeWrapper` expects keys of
    `jax.random.PRNGKey`. The params are constants of every compiled program.

    >>> import jax, jax.numpy as jnp, jaxenv
    >>> env = jaxenv.wrappers.Brax("LifeOps-v0")
    >>> state = jax.eval_shape(env.reset, jax.random.PRNGKey(0))
    >>> state = jax.eval_shape(env.step, state, jnp.zeros(env.action_size))
    >>> state.obs.shape, state.done.dtype, sorted(state.info)
    ((455,), dtype('float32'), ['rng', 'truncation'])

    Attributes:
        env: the environment, wrapped or not, which defines `flatten`.
        params: its params.
    """

    def __init__(self, id_or_env: str | Environment, params: Any = None) -> None:
        """Wraps an environment (or that of an id) with params, by default its own."""
        self.env, self.params = one_agent(id_or_env, params, "Brax")
        self._flat = FlattenObservation(self.env)
        self._no_metrics = _as_metrics(zero_metrics(self.env, self.params))

    @functools.partial(jax.jit, static_argnums=0)
    def reset(self, rng: Key) -> Any:
        """Starts an episode in a scenario drawn with `rng`; the state of the environment is `pipeline_state`."""
        first_key, key = draws.split(rng)
        state = self._flat.init(first_key, self.params, None)
        zero = jnp.float32(0)
        return base.State(
            pipeline_state=state,
            obs=self._flat.observe(state, self.params).vector,
            reward=zero,
            done=zero,
            metrics=dict(self._no_metrics),
            info={"rng": key, "truncation": zero},
        )

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, state: Any, action: jax.Array) -> Any:
        """One turn without reset; what Brax's wrappers keep in `info` and `metrics` stays there.

        Args:
            state: the record of the last step.
            action: [A] float32, see the class.

        Raises:
            ValueError: if the action has another shape.
        """
        if jnp.shape(action) != (self.action_size,):
            raise ValueError(f"Brax.step expects {self.action_size} scores as action, got shape {jnp.shape(action)}")
        turn_key, key = draws.split(state.info["rng"])
        index = jnp.argmax(masking.mask_logits(action, self.action_mask(state))).astype(jnp.int32)
        after, reward, terminated, info = self._flat.transition(turn_key, state.pipeline_state, index, self.params)
        truncated = self._flat.is_truncated(after, self.params)
        return state.replace(
            pipeline_state=after,
            obs=self._flat.observe(after, self.params).vector,
            reward=reward,
            done=(terminated | truncated).astype(jnp.float32),
            metrics=state.metrics | _as_metrics(step_metrics(info)),
            info=state.info | {"rng": key, "truncation": (truncated & ~terminated).astype(jnp.float32)},
        )

    def action_mask(self, state: Any) -> ActionMask:
        """[A] bool, the legal actions of a state."""
        return self.env.action_mask(state.pipeline_state, self.params)

    @functools.cached_property
    def observation_size(self) -> int:
        """F."""
        space: Any = self._flat.observation_space(self.params)
        return space["vector"].shape[0]

    @property
    def action_size(self) -> int:
        """A."""
        return self.env.num_actions

    @property
    def backend(self) -> str:
        """Brax's name for a physics engine; there is none."""
        return "none"


def _as_metrics(reported: dict[str, jax.Array]) -> dict[str, jax.Array]:
    """What Brax adds up over an episode; no action is invalid here."""
    return {name: value.astype(jnp.float32) for name, value in reported.items() if name != "invalid_action"}
