"""Names of the parts of a workspace and its texts, for pictures and text."""

from collections.abc import Sequence
from typing import Any

from scenarios.teamsclone.compiler import codes_of
from scenarios.teamsclone.document import Workspace


def names(workspace: Workspace, documents: Sequence[Workspace] = ()) -> dict[str, Any]:
    """The fields of `jaxenv.envs.teamsclone.view.names.Names` that a document gives: names, otherwise ids.

    >>> import scenarios
    >>> workspace = scenarios.load("teamsclone/general").documents[0]
    >>> names(workspace)["channels"][:2]
    ('General', 'Random')

    Args:
        workspace: the document.
        documents: all those of its bank, which number their texts together; none for the document alone.
    """
    codes = codes_of(documents or [workspace])
    return {
        "workspace": workspace.id,
        "teams": tuple(team.name or team.id for team in workspace.teams),
        "channels": tuple(channel.name or channel.id for channel in workspace.channels),
        "team_of": workspace.team_of,
        "users": tuple(user.name or user.id for user in workspace.users),
        "texts": {codes[text]: text for text in workspace.all_texts()},
    }
