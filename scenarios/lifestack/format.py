"""The document format of LifeStack."""

from jaxenv.envs.lifestack import LifeStack, Limits
from scenarios.document_format import DocumentFormat
from scenarios.lifestack import checks, compiler, decompiler, view
from scenarios.lifestack.document import Action, Task
from scenarios.lifestack.warnings import warnings

FORMAT = DocumentFormat(
    name="lifestack",
    document=Task,
    action=Action,
    environment=LifeStack,
    limits=Limits,
    problems=checks.problems,
    warnings=warnings,
    warns_beside_problems=False,
    compile=compiler.compile,
    decompile=decompiler.decompile,
    limits_of=compiler.limits_of,
    names=view.names,
    actions=view.actions,
    normalize_action=view.normalize_action,
    observation=view.observation,
    has_ended=view.has_ended,
)
