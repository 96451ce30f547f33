"""The members that train at once: their state, and the program that they share."""

import functools
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp

from jaxenv.core import Environment
from train.lanes import SHARED, Lanes
from train.learning.algorithm import Algorithm
from train.networks.policy import LearnedPolicy
from train.run.start import from_policy
from train.save.checkpoint import Checkpoints, NoCheckpoints, Progress
from train.settings.config import Config

ALONE = ""  # the name of a run that is no member of a population


class Group:
    """Some members of a population, along a leading axis M of each array; or a single run, without that axis.

    The lanes of a single run may lie on several devices, those of members lie on one.
    """

    def __init__(
        self,
        algorithm: Algorithm,
        config: Config,
        env: Environment,
        env_params: Any,
        named: Mapping[str, Config],
        lanes: Lanes | None = None,
    ) -> None:
        """Stacks the seeds and hyperparameters of the members.

        Args:
            algorithm: how to learn.
            config: the settings that the members share.
            env: the environment.
            env_params: its params.
            named: name -> settings of each member; a single run has the name `ALONE`.
            lanes: of each member; by default all on one device.
        """
        self.algorithm, self.config, self.env, self.env_params = algorithm, config, env, env_params
        self.named, self.lanes = named, lanes or Lanes(config.rollout.num_lanes)
        self.is_alone = list(named) == [ALONE]
        keys, hypers = zip(*((jax.random.key(each.seed), each.hyper) for each in named.values()), strict=True)
        self.first_key = keys[0]
        stacked = jnp.stack(keys), jax.tree.map(lambda *values: jnp.array(values), *hypers)
        self._keys, hyper = (keys[0], hypers[0]) if self.is_alone else stacked
        self._params, self._hyper = self.lanes.put((env_params, hyper), SHARED)

    @classmethod
    def alone(
        cls, algorithm: Algorithm, config: Config, env: Environment, env_params: Any, lanes: Lanes | None = None
    ) -> "Group":
        """That of a single run."""
        return cls(algorithm, config, env, env_params, {ALONE: config}, lanes)

    def compile(self) -> Any:
        """The compiled superstep: (state, params, hyperparameters) -> (state, metrics); it consumes its state."""
        superstep = self.algorithm.make_superstep(self.config, self.env, self.lanes)
        if not self.is_alone:
            superstep = jax.jit(jax.vmap(superstep, in_axes=(0, None, 0)), donate_argnums=0)
        return superstep.lower(self._shapes(), *self.arguments).compile()

    @property
    def arguments(self) -> tuple[Any, Any]:
        """The arguments of a superstep beside the state: params, and hyperparameters."""
        return self._params, self._hyper

    def begin(self) -> tuple[Any, Progress]:
        """State and progress of a new run, which may start from a policy."""

        def start(key: jax.Array, env_params: Any) -> Any:
            state = self._init(key, env_params)
            return from_policy(self.algorithm, state, self.config, self.env, self.env_params, self.lanes)

        started = start if self.is_alone else jax.jit(jax.vmap(start, in_axes=(0, None)))
        return started(self._keys, self.env_params), Progress(scenarios=self.scenarios())

    def restore(self, checkpoints: Checkpoints | NoCheckpoints, progress: Progress) -> tuple[Any, Progress]:
        """State and progress of a checkpoint, or where it is damaged of the one before it."""
        return checkpoints.restore(progress, self._shapes(), scenarios=self.scenarios())

    def scenarios(self) -> str:
        """The fingerprint of the scenarios that the first member starts with; empty where it has none."""
        bank = self.algorithm.training_bank(self.first_key, self.env_params, config=self.config, env=self.env)
        return "" if bank is None else bank.fingerprint()

    def policy(self, state: Any, member: int = 0) -> LearnedPolicy:
        """A member's learned policy so far."""
        policy = self.algorithm.policy_of(state, config=self.config, env=self.env)
        return self.lanes.local(policy) if self.is_alone else self.of_member(policy, member)

    def of_member(self, tree: Any, member: int) -> Any:
        """A member's part of arrays that all members have."""
        return tree if self.is_alone else jax.tree.map(lambda x: x[member], tree)

    def _init(self, key: jax.Array, env_params: Any) -> Any:
        return self.algorithm.init(key, env_params, config=self.config, env=self.env, lanes=self.lanes)

    def _shapes(self) -> Any:
        """Shapes and dtypes of the state, with the devices where it lies."""
        if not self.is_alone:
            return jax.eval_shape(jax.vmap(self._init, in_axes=(0, None)), self._keys, self.env_params)
        init = functools.partial(self.algorithm.init, config=self.config, env=self.env)  # shapes are put on no mesh
        return self.lanes.placed(jax.eval_shape(init, self._keys, self.env_params), self.algorithm.SPECS)
