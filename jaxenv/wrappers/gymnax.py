"""An environment with gymnax's signatures and spaces, for programs written for gymnax."""

import dataclasses
from typing import Any, Literal

import jax

from jaxenv.core import Environment, spaces
from jaxenv.core.types import ActionMask, Info, Key
from jaxenv.host.arguments import jit_method
from jaxenv.host.names import did_you_mean_one_of
from jaxenv.host.optional import optional
from jaxenv.wrappers.flatten_observation import FlattenObservation
from jaxenv.wrappers.legacy_step import discount, five_values

Reported = Literal["plain", "all"]
INFOS: dict[int, Reported] = {5: "plain", 6: "all"}  # the default `info` by the values of a step


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
        steps: the number of values that `step` returns, 6 as in gymnax 1.x or 5 as before (see `LegacyStep`).
        info: the entries of `info`. "all": everything, as a learner with six values needs for `final_observation`.
            "plain": `terminated`, `truncated`, `discount` and, if the environment reports it, `success`, an array []
            each; learners with five values keep `info` for a whole rollout, or average all its entries. By default
            "plain" with five values and "all" with six.
    """

    env: Environment
    steps: int = 6
    info: Reported | None = None

    def __post_init__(self) -> None:
        """Rejects other numbers of values, another `info`, and several agents."""
        check_steps(self.steps)
        self.info = INFOS[self.steps] if self.info is None else self.info
        if self.info not in INFOS.values():
            raise ValueError(f"Gymnax(info={self.info!r}).{did_you_mean_one_of(self.info, INFOS.values())}")
        if self.env.num_agents > 1:
            raise ValueError(
                f"Gymnax({self.name}): programs written for gymnax know one agent and one reward, and this environment"
                f" has {self.env.num_agents} agents; wrappers.JaxMARL takes it"
            )

    @property
    def name(self) -> str:
        """The environment's id."""
        return self.env.name

    @property
    def num_actions(self) -> int:
        """The size A of the action catalogue."""
        return self.env.num_actions

    @property
    def default_params(self) -> Any:
        """The environment's params; gymnax reads their `max_steps_in_episode`."""
        return self.env.default_params

    @jit_method
    def reset(self, key: Key, params: Any = None) -> tuple[jax.Array, Any]:
        """Starts an episode: (vector [F] float32, state)."""
        params = self.default_params if params is None else params
        observation, state = self._flat.reset_env(key, params)
        return observation.vector, state

    @jit_method
    def step(self, key: Key, state: Any, action: jax.Array, params: Any = None) -> tuple[Any, ...]:
        """Takes one step, and resets at once where it ends the episode.

        Returns:
            (vector [F] float32, state, reward [] float32, terminated [] bool, truncated [] bool, info), or with
            `done` instead of `terminated` and `truncated`. If `info` has `final_observation`, it is a vector as well.
        """
        params = self.default_params if params is None else params
        observation, state, reward, terminated, truncated, info = self._flat.step(key, state, action, params)
        result = (observation.vector, state, reward, terminated, truncated, self._reported(info))
        return result if self.steps == 6 else five_values(*result)

    def _reported(self, info: Info) -> Info:
        """The program's view of `info`."""
        if self.info == "all":
            return {**info, "final_observation": info["final_observation"].vector}
        plain = {name: info[name] for name in ("terminated", "truncated", "success") if name in info}
        return {**plain, "discount": discount(info["terminated"])}

    def action_mask(self, state: Any, params: Any = None) -> ActionMask:
        """[A] bool, the legal actions of a state."""
        return self.env.action_mask(state, self.default_params if params is None else params)

    def action_space(self, params: Any = None) -> Any:
        """The actions, as a space of gymnax."""
        return _convert(self.env.action_space(params))

    def observation_space(self, params: Any = None) -> Any:
        """A box of F numbers, as a space of gymnax."""
        return _convert(self._flat.observation_space(params)["vector"])

    def state_space(self, params: Any = None) -> Any:
        """The states, as a space of gymnax."""
        return _convert(self.env.state_space(params))

    @property
    def _flat(self) -> FlattenObservation:
        """The environment with flat observations."""
        return FlattenObservation(self.env)


def check_steps(steps: int) -> None:
    """Rejects numbers of values that no gymnax has.

    Raises:
        ValueError: for another number than 5 or 6.
    """
    if steps not in INFOS:
        raise ValueError(f"Gymnax(steps={steps!r}): expected 6 values, or 5 as before gymnax 1.0")


def _convert(space: spaces.Space) -> Any:
    """The equivalent space of gymnax."""
    theirs = optional("gymnax.environments.spaces", "a space of Gymnax")
    match space:
        case spaces.Discrete():
            return theirs.Discrete(space.n)
        case spaces.Box():
            return theirs.Box(space.low, space.high, space.shape, space.dtype)
        case spaces.Record():
            return theirs.Dict({name: _convert(inner) for name, inner in space.fields})
        case _:
            raise TypeError(f"gymnax has no space like {space!r}")
