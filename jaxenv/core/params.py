"""The numbers of an environment, as far as all families have them."""

from collections.abc import Mapping
from typing import Any, ClassVar

from jaxenv.core.bank import ScenarioBank
from jaxenv.core.contents import require_numbers
from jaxenv.core.printing import Compact
from jaxenv.core.terms import WEIGHT_BOUNDS


class BankParams(Compact):
    """The base of a family's `Params`: a bank of scenarios, the weights of the reward, and the check of all numbers.

    Attributes:
        bounds: of the further numbers, see `jaxenv.core.contents.require_numbers`.
    """

    bank: ScenarioBank
    weights: Any  # the family's `reward.RewardWeights`

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {}

    def validate(self) -> None:
        """A ValueError for what is no number, or out of its bounds (host side)."""
        require_numbers(self, {"weights": WEIGHT_BOUNDS, **self.bounds})
