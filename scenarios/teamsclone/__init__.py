"""TeamsClone in text: its documents, how they become arrays, and how a running workspace reads in their words."""

from jaxenv.envs.teamsclone import Limits as Limits
from scenarios.teamsclone.client import TeamsEnvClient as TeamsEnvClient
from scenarios.teamsclone.compiler import compile as compile
from scenarios.teamsclone.compiler import decompile as decompile
from scenarios.teamsclone.compiler import texts as texts
from scenarios.teamsclone.document import Channel as Channel
from scenarios.teamsclone.document import KindMix as KindMix
from scenarios.teamsclone.document import Message as Message
from scenarios.teamsclone.document import PresenceTransition as PresenceTransition
from scenarios.teamsclone.document import Team as Team
from scenarios.teamsclone.document import Texts as Texts
from scenarios.teamsclone.document import User as User
from scenarios.teamsclone.document import Workspace as Workspace
from scenarios.teamsclone.format import FORMAT as FORMAT
from scenarios.teamsclone.view import Action as Action
from scenarios.teamsclone.view import Payload as Payload
from scenarios.teamsclone.view import names as names
