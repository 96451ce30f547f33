"""The conformance check, for the environments shipped here and for those that people write themselves."""

from jaxenv.testing.check import Verdict as Verdict
from jaxenv.testing.check import check_environment as check_environment
from jaxenv.testing.check import examine as examine
from jaxenv.testing.verdict import ConformanceError as ConformanceError
