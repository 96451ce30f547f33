"""The shipped scenarios of an environment, and what Random and the best play earn on them."""

import dataclasses
from typing import Any

import numpy as np

import scenarios
from jaxenv.core import Environment
from jaxenv.evaluation import evaluate
from scenarios.loading import ENVIRONMENTS
from train.score.scores import ReferenceReturns, references

RANDOM_EPISODES = 1000  # per scenario without a stored random return


def library_for(env: Environment, path: str | None = None) -> scenarios.Library | None:
    """The same as `load_library`, or None for an environment without documents where no file is named."""
    return load_library(env, path) if path is not None or env.family in ENVIRONMENTS else None


def load_library(env: Environment, path: str | None = None) -> scenarios.Library:
    """The scenarios of a file or folder, or the library of the environment, in the environment's shapes.

    By convention, the part of an id before the first hyphen, in lower case, is the environment's name in `scenarios`:
    the documents and library of `LifeOps-Shaped-v0` are those of `lifeops`.
    """
    family = env.family
    return scenarios.load(path or family, limits=getattr(env, "limits", None), environment=family)


def reference_returns(
    env: Environment, params: Any, library: scenarios.Library, random_policy: Any
) -> ReferenceReturns:
    """The stored returns of shipped scenarios; for others Random is played and the best return is unknown."""
    found = references(library.ids, stored_returns(env, library))
    if not np.isnan(found.random).any():
        return found
    played = np.asarray(evaluate(random_policy, env, params, repetitions=RANDOM_EPISODES).returns).mean(axis=1)
    return dataclasses.replace(found, random=np.where(np.isnan(found.random), played, found.random))


def reference_of(env: Environment) -> ReferenceReturns | None:
    """The stored returns of Random and those that score 1 on the shipped library; None where there are none."""
    library = library_for(env)
    if library is None or not (stored := stored_returns(env, library)):
        return None
    return references(library.ids, stored)


def stored_returns(env: Environment, library: scenarios.Library) -> dict[str, dict[str, Any]]:
    """The shipped returns of the scenarios in a library that equal shipped ones."""
    ours = library if library.is_shipped else load_library(env)
    documents = dict(zip(library.ids, library.documents, strict=True))
    same = {id for id, document in zip(ours.ids, ours.documents, strict=True) if documents.get(id) == document}
    return {id: returns for id, returns in ours.returns(env.name).items() if id in same}
