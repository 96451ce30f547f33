"""An environment of several agents with JaxMARL's signatures: dictionaries by agent, and params stored inside."""

import functools
from typing import Any

import jax
import jax.numpy as jnp

from jaxenv.core import Environment
from jaxenv.core.environment import select
from jaxenv.core.types import Info, Key
from jaxenv.host.arguments import jit_method
from jaxenv.wrappers.adapters import extend_make, registry, resolve, their_spaces
from jaxenv.wrappers.wrapper import FlattenObservation

ALL = "__all__"
ByAgent = dict[str, jax.Array]
Step = tuple[ByAgent, Any, ByAgent, ByAgent, Info]  # (observations, state, rewards, dones, infos)
REPORTED = ("invalid_action", "redrawn", "success")  # the entries of `info` that `infos` repeats, where present


def register_jaxmarl() -> None:
    """Makes `jaxmarl.make` build every registered environment, under `JaxMARL` with its default params.

    Its other arguments are those of `jaxenv.make`. JaxMARL has nowhere to register, so `jaxmarl.make` is replaced by a
    function that knows both: call this before a program says `from jaxmarl import make`. A later call adds new
    registrations.

    >>> import jaxmarl, jaxenv
    >>> jaxenv.wrappers.register_jaxmarl()
    >>> jaxmarl.make("TeamsClone-MultiAgent-v0", num_agents=2).agents
    ['agent_0', 'agent_1']

    Raises:
        ImportError: if JaxMARL is not installed.
    """
    extend_make("jaxmarl", {id: functools.partial(_made, id) for id in registry().registered()})


class JaxMARL:
    """`reset`, `step`, `get_obs` and `get_avail_actions` as JaxMARL's learners and wrappers call them.

    Observations are flat vectors [F] float32. An environment of one agent has only `agent_0`. JaxMARL has no params,
    so those given here are constants of every compiled program; other params need another wrapper.

    >>> import jax, jaxenv
    >>> env, params = jaxenv.make("TeamsClone-MultiAgent-v0", num_agents=2)
    >>> env = jaxenv.wrappers.JaxMARL(env, params)
    >>> observations, state = env.reset(jax.random.key(0))
    >>> {agent: mask.shape for agent, mask in env.get_avail_actions(state).items()}
    {'agent_0': (114,), 'agent_1': (114,)}

    Attributes:
        env: the environment, wrapped or not, which defines `flatten`.
        params: its params.
        name: the environment's id.
        num_agents: N.
        agents: `agent_0`, `agent_1`, ..., in the order of the axis of agents.
        agent_classes: a single class, which has all agents.
    """

    def __init__(self, env: str | Environment, params: Any = None) -> None:
        """Wraps an environment with params, by default its own, or makes one of `jaxenv.registered()`.

        Raises:
            ValueError: for an unknown id, or params that their `validate` refuses.
        """
        self.env, self.params = resolve(env, params)
        self.name, self.num_agents = self.env.name, self.env.num_agents
        self.agents = [f"agent_{number}" for number in range(self.num_agents)]
        self.agent_classes = {"agent": self.agents}
        self._flat = FlattenObservation(self.env)

    @functools.partial(jax.jit, static_argnums=0)
    def reset(self, key: Key) -> tuple[ByAgent, Any]:
        """Starts an episode: (observations by agent, state)."""
        observation, state = self._flat.reset_env(key, self.params)
        return self._by_agent(observation.vector), state

    @jit_method
    def step(self, key: Key, state: Any, actions: ByAgent, reset_state: Any = None) -> Step:
        """Takes one step; where it ends the episode, a new one starts at once, in `reset_state` if given.

        Returns:
            (observations, state, rewards, dones, infos). `dones` has each agent and `__all__`; `infos` has
            "terminated", "truncated", "invalid_action" and, where the environment reports it, "success" (under
            `LegalActions` "redrawn"), [N] each.

        Raises:
            ValueError: where an agent has no action, or one that is not an integer of shape () or (1,).
        """
        turn_key, reset_key = jax.random.split(key)
        last, after, reward, terminated, truncated, info = self.env.transition_or_reset(
            turn_key, reset_key, state, self._joint(actions), self.params
        )
        if reset_state is not None:
            after = select(terminated | truncated, reset_state, last)
        return self._outputs(after, reward, terminated, truncated, info)

    @jit_method
    def step_env(self, key: Key, state: Any, actions: ByAgent) -> Step:
        """`step` without the reset."""
        state, reward, terminated, info = self.env.transition(key, state, self._joint(actions), self.params)
        return self._outputs(state, reward, terminated, self.env.is_truncated(state, self.params), info)

    def _joint(self, actions: ByAgent) -> jax.Array:
        """The actions of all agents, [N] int32, or [] for one."""
        return jnp.stack([_one_action(agent, actions) for agent in self.agents]).reshape(self.env.action_shape)

    def _outputs(self, state: Any, reward: jax.Array, terminated: jax.Array, truncated: jax.Array, info: Info) -> Step:
        """The results of a step, by agent; the observations are those of `state`."""
        reported = {name: info[name] for name in REPORTED if name in info}
        reported |= {"terminated": terminated, "truncated": truncated}
        infos = {name: jnp.broadcast_to(value, (self.num_agents,)) for name, value in reported.items()}
        dones = dict.fromkeys([*self.agents, ALL], terminated | truncated)
        return self.get_obs(state), state, self._by_agent(reward), dones, infos

    def get_obs(self, state: Any) -> ByAgent:
        """The observations of a state, by agent."""
        return self._by_agent(self._flat.observe(state, self.params).vector)

    @functools.partial(jax.jit, static_argnums=0)
    def get_avail_actions(self, state: Any) -> ByAgent:
        """The action masks of a state, [A] bool by agent."""
        return self._by_agent(self.env.action_mask(state, self.params))

    @property
    def observation_spaces(self) -> dict[str, Any]:
        """A box of F numbers for each agent, as a space of JaxMARL."""
        box: Any = self._flat.observation_space(self.params)["vector"]
        theirs = their_spaces("JaxMARL").Box(box.low, box.high, box.shape[-1:], box.dtype)
        return dict.fromkeys(self.agents, theirs)

    @property
    def action_spaces(self) -> dict[str, Any]:
        """The catalogue for each agent, as a space of JaxMARL."""
        return dict.fromkeys(self.agents, their_spaces("JaxMARL").Discrete(self.env.num_actions))

    def observation_space(self, agent: str) -> Any:
        """A box of F numbers, as a space of JaxMARL."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The catalogue, as a space of JaxMARL."""
        return self.action_spaces[agent]

    def _by_agent(self, values: jax.Array) -> ByAgent:
        """Splits an array by its axis of agents, which an environment of one agent does not have."""
        rows = values if self.num_agents > 1 else values[None]
        return {agent: rows[number] for number, agent in enumerate(self.agents)}


def _made(id: str, **static: Any) -> JaxMARL:
    """The result of `jaxmarl.make`."""
    return JaxMARL(registry().build(id, **static))


def _one_action(agent: str, actions: ByAgent) -> jax.Array:
    """[] int32: an agent's action, which some learners give as an array of one."""
    if agent not in actions:
        raise ValueError(f"no action of {agent!r}; the actions given are those of {', '.join(actions) or 'nobody'}")
    action = jnp.asarray(actions[agent])
    if not jnp.issubdtype(action.dtype, jnp.integer) or action.shape not in ((), (1,)):
        raise ValueError(f"the action of {agent} is {action.dtype}{list(action.shape)}; expected an integer [] or [1]")
    return action.astype(jnp.int32).reshape(())
