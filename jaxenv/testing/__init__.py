"""The conformance check, for the environments shipped here and for those that people write themselves."""

from jaxenv.testing.conformance import ConformanceError as ConformanceError
from jaxenv.testing.conformance import check_environment as check_environment
