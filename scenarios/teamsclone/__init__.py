"""TeamsClone in text: its documents, how they become arrays, and how a running workspace is told."""

from jaxenv.envs.teamsclone import Limits as Limits
from jaxenv.envs.teamsclone import TeamsClone as Environment
from scenarios.teamsclone.action import Action as Action
from scenarios.teamsclone.action import Payload as Payload
from scenarios.teamsclone.checks import problems as problems
from scenarios.teamsclone.client import TeamsEnvClient as TeamsEnvClient
from scenarios.teamsclone.compiler import bank as bank
from scenarios.teamsclone.compiler import compile as compile
from scenarios.teamsclone.compiler import limits_of as limits_of
from scenarios.teamsclone.decompiler import decompile as decompile
from scenarios.teamsclone.dictionary import observation as observation
from scenarios.teamsclone.document import Channel as Channel
from scenarios.teamsclone.document import KindMix as KindMix
from scenarios.teamsclone.document import Message as Message
from scenarios.teamsclone.document import PresenceTransition as PresenceTransition
from scenarios.teamsclone.document import Team as Team
from scenarios.teamsclone.document import Texts as Texts
from scenarios.teamsclone.document import User as User
from scenarios.teamsclone.document import Workspace as Workspace
from scenarios.teamsclone.oddities import warnings as warnings
from scenarios.teamsclone.page import page as page
from scenarios.teamsclone.standpoint import standpoint as standpoint
from scenarios.teamsclone.texts import texts as texts
from scenarios.teamsclone.view import canonical as canonical
from scenarios.teamsclone.view import choices as choices
from scenarios.teamsclone.view import document_actions as document_actions
from scenarios.teamsclone.view import has_ended as has_ended

Document = Workspace
__all__ = ["Document", "Environment"]
