"""The document format of Week."""

from jaxenv.envs.week import Limits, Week
from scenarios.document_format import DocumentFormat, stacked
from scenarios.week import checks, compiler, decompiler, document, view

FORMAT = DocumentFormat(
    name="week",
    document=document.Week,
    action=document.Action,
    environment=Week,
    limits=Limits,
    problems=checks.problems,
    warnings=checks.warnings,
    bank=stacked(compiler.compile),
    decompile=decompiler.decompile,
    other_sizes=compiler.groups_of,
    names=view.names,
    actions=view.actions,
    observation=view.observation,
)
