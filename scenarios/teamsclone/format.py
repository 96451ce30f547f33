"""The document format of TeamsClone."""

from jaxenv.envs.teamsclone import Limits, TeamsClone
from scenarios.document_format import DocumentFormat
from scenarios.teamsclone import checks, compiler, view
from scenarios.teamsclone.document import Workspace

FORMAT = DocumentFormat(
    name="teamsclone",
    document=Workspace,
    action=view.Action,
    environment=TeamsClone,
    limits=Limits,
    problems=checks.problems,
    bank=compiler.bank,
    decompile=compiler.decompile,
    other_sizes=compiler.teams_of,
    names=view.names,
    actions=view.actions,
    normalize_action=view.normalize_action,
    observation=view.observation,
)
