"""The document format of LifeOps."""

from jaxenv.envs.lifeops import LifeOps, Limits
from scenarios.document_format import DocumentFormat
from scenarios.lifeops import checks, compiler, decompiler, view
from scenarios.lifeops.document import Action, Day

FORMAT = DocumentFormat(
    name="lifeops",
    document=Day,
    action=Action,
    environment=LifeOps,
    limits=Limits,
    problems=checks.problems,
    warnings=checks.warnings,
    compile=compiler.compile,
    decompile=decompiler.decompile,
    limits_of=compiler.limits_of,
    names=view.names,
    actions=view.actions,
    normalize_action=view.normalize_action,
    observation=view.observation,
    has_ended=view.has_ended,
)
