"""The stage of a text episode: an environment with params, and the documents that name their contents."""

import functools
from typing import Any, NamedTuple

import jax

import jaxenv
from jaxenv import registry
from jaxenv.core import Environment, ScenarioBank
from scenarios.codec import Codec
from scenarios.libraries import Library, shipped
from scenarios.loading import decompile, format_of
from scenarios.text.errors import ScenarioError

GENERATED = "generated"
"""The name of a generated scenario, in the place of one of the library."""


class Stage(NamedTuple):
    """An environment whose params hold the bank of a library."""

    env: Environment
    params: Any
    library: Library
    codec: Codec


def playable_ids() -> list[str]:
    """The registered ids of a single agent."""
    return [id for id in jaxenv.registered() if registry.build(id).num_agents == 1]


@functools.lru_cache(maxsize=16)
def playable(id: str) -> tuple[Environment, Any]:
    """The environment and its params.

    Raises:
        ScenarioError: for an unknown id, one of several agents, or an environment without documents.
    """
    try:
        env, params = jaxenv.make(id)
    except ValueError as error:
        raise ScenarioError(str(error)) from None
    if env.num_agents > 1:
        raise ScenarioError(
            f"{id} has {env.num_agents} agents, and text is for one: scenarios.Codec(env, params, library, agent=0) "
            "describes any of several."
        )
    format_of(env.family)
    return env, params


@functools.lru_cache(maxsize=16)
def library_stage(id: str) -> Stage:
    """The environment with the library that jaxenv ships; raises as `playable`."""
    env, params = playable(id)
    library = shipped(format_of(env.family))
    return Stage(env, params, library, Codec(env, params, library))


def generated_stage(id: str, key: jax.Array) -> Stage:
    """The environment with one scenario of its generator, at a difficulty drawn from 0 to 1; raises as `playable`."""
    env, params = playable(id)
    library = decompile(env.family, ScenarioBank(_generate(env, key), params.bank.shared))
    params = params.replace(bank=library.bank)
    return Stage(env, params, library, Codec(env, params, library))


@functools.partial(jax.jit, static_argnums=0)
def _generate(env: Environment, key: jax.Array) -> Any:
    """One scenario, with a leading axis of 1."""
    difficulty_key, scenario_key = jax.random.split(key)
    scenario = env.generate(scenario_key, jax.random.uniform(difficulty_key))
    return jax.tree.map(lambda leaf: leaf[None], scenario)
