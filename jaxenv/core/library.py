"""Environments whose scenarios lie in a bank, with a library of them shipped as arrays."""

import abc
from pathlib import Path
from typing import Any, ClassVar

import jax

from jaxenv.core.bank import ScenarioBank
from jaxenv.core.environment import Environment, ObservationT, ParamsT, StateT


class LibraryEnvironment(Environment[ParamsT, StateT, ObservationT]):
    """An environment whose params hold a bank; without another, the one that is shipped beside its code.

    Attributes:
        library: the shipped bank, a file as `ScenarioBank.save` writes it.
    """

    library: ClassVar[Path]

    @property
    @abc.abstractmethod
    def empty_scenario(self) -> Any:
        """A scenario of padding only, in the shapes of this environment."""

    @abc.abstractmethod
    def make_params(self, bank: ScenarioBank) -> ParamsT:
        """The numbers of the rules around a bank that has the shapes of this environment; `params_for` is its door."""

    def params_for(self, bank: ScenarioBank) -> ParamsT:
        """The default params with another bank, brought to the shapes of this environment (host side).

        Raises:
            ValueError: where a scenario does not fit into the limits.
        """
        return self.make_params(bank.resize(self.empty_scenario))

    @property
    def default_params(self) -> ParamsT:
        """The scenarios of the library and the numbers of the rules."""
        with jax.ensure_compile_time_eval():  # arrays, not tracers, where it is asked for inside a jit
            return self.params_for(ScenarioBank.load(self.library, self.empty_scenario))
