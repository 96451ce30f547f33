"""The document format of TeamsClone."""

from jaxenv.envs.teamsclone import Limits, TeamsClone
from scenarios.document_format import DocumentFormat
from scenarios.teamsclone import checks, compiler, view
from scenarios.teamsclone.action import Action
from scenarios.teamsclone.agent_view import agent_view
from scenarios.teamsclone.document import Workspace
from scenarios.teamsclone.names import names
from scenarios.teamsclone.observation import observation

FORMAT = DocumentFormat(
    name="teamsclone",
    document=Workspace,
    action=Action,
    environment=TeamsClone,
    limits=Limits,
    problems=checks.problems,
    compile=compiler.compile,
    decompile=compiler.decompile,
    limits_of=compiler.limits_of,
    names=names,
    legal_and_moves=view.legal_and_moves,
    action_dicts=view.action_dicts,
    normalize_action=view.normalize_action,
    observation=observation,
    has_ended=view.has_ended,
    view=agent_view,
    bank=compiler.bank,
)
