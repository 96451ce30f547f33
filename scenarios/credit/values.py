"""Values of states and actions: exact where they can be searched, else by rollouts."""

import contextlib
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import jaxenv
from jaxenv import baselines
from jaxenv.core import Environment
from jaxenv.core.types import Key
from jaxenv.envs.lifeops import LifeOps
from jaxenv.envs.lifestack import LifeStack
from jaxenv.evaluation import as_pytree, in_state, play_from
from jaxenv.rendering.view import legal_mask, scenario_of, to_host
from scenarios.credit import exact
from scenarios.episodes import key_of
from scenarios.text.errors import ScenarioError

LANES = 256  # rollouts at once
POLICY = -1  # in the place of an action: what the policy takes


class Values(NamedTuple):
    """What a state and its actions are worth, undiscounted, to the end of the episode."""

    of_state: float
    of_actions: np.ndarray  # [A] float64; minus infinity where an action is not legal
    is_exact: bool  # of the best play; otherwise means of a policy

    @property
    def best(self) -> int:
        """The action that is worth most."""
        return int(self.of_actions.argmax())

    def advantage(self, action: int) -> float | None:
        """What an action is worth more than the state; None where it is not legal."""
        found = float(self.of_actions[action] - self.of_state)
        return found if np.isfinite(found) else None


class Credit:
    """Values of states and actions, for `TextEnv(…, credit=Credit())`.

    - In LifeOps and LifeStack they are exact, of the best play from there on by a player who sees hidden facts and the
      schedule of events, not the draws: an advantage is 0 for a best action, and what a mistake costs for another.
      That takes a hundredth of a second to a second in most scenarios, and 84 s in the longest day of the library. A
      crisis whose search takes longer than ten seconds has rollouts.
    - Elsewhere they are means over rollouts from the true state: the action, then a policy to the end. Rollout k draws
      the same chance for every action, so that differences have less noise than values. The policy is the trained
      one that comes with the package, or else the last of the baselines.

    >>> import scenarios
    >>> env = scenarios.TextEnv("LifeOps-v0", "s1_basic_conflict", credit=scenarios.Credit())
    >>> _ = env.reset()
    >>> text, reward, done, info = env.step("0")
    >>> round(info["advantage"], 2), info["best_action"]
    (-31.1, 3)
    """

    def __init__(self, rollouts: int = 32, policy: Any = None, seed: int = 0) -> None:
        """Prepares values.

        Args:
            rollouts: of each action, where values are not exact.
            policy: that plays them, as for `jaxenv.evaluate`; where one is given, nothing is exact.
            seed: of their chance, 0 to 2³² − 1; never that of the episode.

        Raises:
            ScenarioError: for a number of rollouts below 1, and a seed out of range.
        """
        if rollouts < 1:
            raise ScenarioError(f"rollouts is {rollouts}, expected at least 1.")
        self._policy, self._keys = policy, jax.random.split(key_of(seed), rollouts)
        self._search: Any = None  # of the last crisis

    def values(self, env: Environment, params: Any, state: Any) -> Values:
        """The values in a state whose episode has not ended.

        Args:
            env: of one agent, without wrappers.
            params: its params.
            state: the true state, hidden facts included.

        Raises:
            ScenarioError: where there are several agents.
        """
        if env.num_agents > 1:
            raise ScenarioError(f"{env.name} has several agents, and credit is for one.")
        legal = np.flatnonzero(np.asarray(legal_mask(env, state, params)))
        found = self._exact(env, params, state, legal) if self._policy is None else None
        return self._by_rollouts(env, params, state, legal) if found is None else found

    def _exact(self, env: Environment, params: Any, state: Any, legal: np.ndarray) -> Values | None:
        """The values where a search finds them."""
        if isinstance(env, LifeOps):
            found = exact.solve(env, params, state)
            return Values(found.best, found.of_actions, is_exact=True)
        if not isinstance(env, LifeStack):
            return None
        from scenarios.solvers.lifestack.search import Worth  # only where a search is asked for

        crisis, weights = scenario_of(params, state), params.weights
        if self._search is None or self._search[0] is not crisis or self._search[1] is not weights:
            self._search = crisis, weights, Worth(crisis, weights)
        of_legal = self._search[2].of_actions(to_host(state), legal)
        if of_legal is None:
            return None
        of_actions = np.full(env.num_actions, -np.inf)
        of_actions[legal] = of_legal
        return Values(float(of_legal.max()), of_actions, is_exact=True)

    def _by_rollouts(self, env: Environment, params: Any, state: Any, legal: np.ndarray) -> Values:
        policy = policy_of(env)[1] if self._policy is None else self._policy
        firsts = np.append(legal, POLICY).repeat(len(self._keys))
        numbers = np.resize(np.arange(len(self._keys)), len(firsts))
        returns = np.zeros(len(firsts))
        for start in range(0, len(firsts), LANES):
            lanes = np.arange(start, start + LANES).clip(max=len(firsts) - 1)  # one shape, so that it compiles once
            found = _returns(env, as_pytree(policy), params, state, firsts[lanes], self._keys[numbers[lanes]])
            returns[lanes] = np.asarray(found)
        means = returns.reshape(-1, len(self._keys)).mean(axis=1)
        of_actions = np.full(env.num_actions, -np.inf)
        of_actions[legal] = means[:-1]
        return Values(float(means[-1]), of_actions, is_exact=False)


@functools.lru_cache(maxsize=16)
def policy_of(env: Environment) -> tuple[str, Any]:
    """The trained policy that comes with the package, by the name PPO, or else the last of the baselines.

    One with memory does not know what came before the state that is valued, so that a baseline takes its place.
    """
    with contextlib.suppress(ValueError):
        policy = jaxenv.load_policy(env, env.default_params)
        if not hasattr(policy, "initial_carry"):
            return "PPO", policy
    return list(baselines.for_environment(env).items())[-1]


@functools.partial(jax.jit, static_argnums=0)
def _returns(env: Environment, policy: Any, params: Any, state: Any, actions: Any, keys: Key) -> jax.Array:
    """[L] float32: returns of playouts from one state, each with a first action and a key."""
    carry, act = in_state(policy, env)

    def play(action: jax.Array, key: Key) -> jax.Array:
        choice_key, turn_key, play_key = jax.random.split(key, 3)
        chosen, _ = act(choice_key, state, params, carry)
        first = jnp.where(action == POLICY, chosen, action).astype(jnp.int32)
        after, reward, terminated, _ = env.transition(turn_key, state, first, params)
        rest = play_from(env, policy, params, jnp.int32(params.max_steps_in_episode), play_key, after)
        return reward + jnp.where(terminated | env.is_truncated(after, params), 0.0, rest.returns)

    return jax.vmap(play)(actions, keys)
