"""A family: the ids that share an engine, and the parts that belong to it."""

import dataclasses
import importlib
from collections.abc import Callable, Mapping
from typing import Any

from jaxenv.core.environment import Environment
from jaxenv.core.types import Policy, StatefulPolicy


@dataclasses.dataclass(frozen=True)
class Family:
    """The row that a new family of environments adds to `jaxenv.envs.FAMILIES`.

    Its folder `jaxenv/envs/NAME/` has the engine, the generator, the features, `baseline.py` and `view/`; its documents
    lie in `scenarios/NAME/`.

    Attributes:
        name: of these folders.
        environment: the class of all its ids.
        ids: id -> a function that builds its environment; its arguments are those of `jaxenv.make`.
        baselines: environment -> name -> rule-based policy.
    """

    name: str
    environment: type[Environment]
    ids: Mapping[str, Callable[..., Environment]]
    baselines: Callable[[Any], Mapping[str, Policy | StatefulPolicy]]

    @property
    def view(self) -> Any:
        """The `jaxenv.rendering.View` that shows its states, imported here since only pictures and texts need it."""
        return importlib.import_module(f"jaxenv.envs.{self.name}.view").VIEW
