"""The conformance check, for the environments of this suite and for your own."""

from jaxenv.testing.check import Verdict, check_environment, examine
from jaxenv.testing.rule import ConformanceError

__all__ = ["ConformanceError", "Verdict", "check_environment", "examine"]
