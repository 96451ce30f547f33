"""Illegal actions drawn anew among the legal ones, for learners without mask support."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxenv.core import masking
from jaxenv.core.types import Info, Key
from jaxenv.lowering import draws
from jaxenv.wrappers.wrapper import Wrapper

REDRAW = 2**31  # folded into the key of a turn, whose own splits and draws count from 0 and stay far below


@dataclasses.dataclass(frozen=True)
class LegalActions(Wrapper):
    """Takes a uniformly drawn legal action in the place of an illegal one, and says so in `info["redrawn"]`.

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

    def transition(
        self, key: Key, state: Any, action: jax.Array, params: Any
    ) -> tuple[Any, jax.Array, jax.Array, Info]:
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
