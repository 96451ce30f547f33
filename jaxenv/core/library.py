"""Environments whose scenarios lie in a bank, with a library of them shipped as arrays."""

import abc
from pathlib import Path
from typing import Any, ClassVar

import jax

from jaxenv.core import fields, spaces
from jaxenv.core.bank import ScenarioBank
from jaxenv.core.contents import require_within
from jaxenv.core.environment import Environment, ObservationT, ParamsT, StateT


class LibraryEnvironment(Environment[ParamsT, StateT, ObservationT]):
    """An environment whose params hold a bank; without another, the one that is shipped beside its code.

    Its spaces and the padding of its scenarios follow from its records, which declare them (`jaxenv.core.fields`).

    Attributes:
        library: the shipped bank, a file as `ScenarioBank.save` writes it; without one override `default_params`.
        scenario_type: the record of a scenario.
        state_type: the record of a state.
        observation_type: the record of an observation.
    """

    library: ClassVar[Path]
    scenario_type: ClassVar[type]
    state_type: ClassVar[type]
    observation_type: ClassVar[type]

    @property
    @abc.abstractmethod
    def sizes(self) -> fields.Sizes:
        """Axis -> length, for the axes that the records name."""

    @property
    def empty_scenario(self) -> Any:
        """A scenario of padding only, as NumPy arrays in the shapes of this environment."""
        return fields.padding(self.scenario_type, self.sizes)

    def action_space(self, params: ParamsT | None = None) -> spaces.Space:
        """The catalogue, 0 .. A − 1."""
        return spaces.Discrete(self.num_actions)

    def observation_space(self, params: ParamsT | None = None) -> spaces.Record:
        """A space for each field of the observation."""
        return fields.space(self.observation_type, self.sizes)

    def state_space(self, params: ParamsT | None = None) -> spaces.Record:
        """A space for each field of the state."""
        return fields.space(self.state_type, self.sizes)

    @abc.abstractmethod
    def make_params(self, bank: ScenarioBank) -> ParamsT:
        """The default params around a bank in the shapes of this environment; call it through `params_for`."""

    def params_for(self, bank: ScenarioBank) -> ParamsT:
        """The default params with another bank, brought to the shapes of this environment (host side).

        Raises:
            ValueError: if a scenario exceeds the limits, or has a value that no document can express.
        """
        resized = bank.resize(self.empty_scenario)
        require_within(fields.space(self.scenario_type, self.sizes), resized.scenarios)
        return self.make_params(resized)

    @property
    def default_params(self) -> ParamsT:
        """The scenarios of the library and the numbers of the rules."""
        # Arrays, not tracers, even inside a jit; the transfer to the device is intended.
        with jax.ensure_compile_time_eval(), jax.transfer_guard("allow"):
            return self.params_for(ScenarioBank.load(self.library, self.empty_scenario))
