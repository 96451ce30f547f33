"""The conformance check, for the environments of this suite and for your own."""

from jaxenv.testing.check import Verdict as Verdict
from jaxenv.testing.check import check_environment as check_environment
from jaxenv.testing.check import examine as examine
from jaxenv.testing.rule import ConformanceError as ConformanceError
