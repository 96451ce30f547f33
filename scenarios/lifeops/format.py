"""The document format of LifeOps."""

from jaxenv.envs.lifeops import LifeOps, Limits
from scenarios.document_format import DocumentFormat
from scenarios.lifeops import checks, compiler, view
from scenarios.lifeops.document import Action, Day
from scenarios.lifeops.names import names

FORMAT = DocumentFormat(
    name="lifeops",
    document=Day,
    action=Action,
    environment=LifeOps,
    limits=Limits,
    problems=checks.problems,
    warnings=checks.warnings,
    compile=compiler.compile,
    decompile=compiler.decompile,
    limits_of=compiler.limits_of,
    names=names,
    legal_and_moves=view.legal_and_moves,
    action_dicts=view.action_dicts,
    normalize_action=view.normalize_action,
    observation=view.observation,
    has_ended=view.has_ended,
)
