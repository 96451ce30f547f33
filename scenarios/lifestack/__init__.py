"""LifeStack in text: its documents, how they become arrays, and how a running crisis is told."""

from jaxenv.envs.lifestack import LifeStack as Environment
from jaxenv.envs.lifestack import Limits as Limits
from scenarios.lifestack.checks import problems as problems
from scenarios.lifestack.compiler import compile as compile
from scenarios.lifestack.compiler import limits_of as limits_of
from scenarios.lifestack.conditions import AnyOf as AnyOf
from scenarios.lifestack.conditions import Comparison as Comparison
from scenarios.lifestack.conditions import Condition as Condition
from scenarios.lifestack.decompiler import decompile as decompile
from scenarios.lifestack.document import Action as Action
from scenarios.lifestack.document import Constraints as Constraints
from scenarios.lifestack.document import Cost as Cost
from scenarios.lifestack.document import ExoEvent as ExoEvent
from scenarios.lifestack.document import Milestone as Milestone
from scenarios.lifestack.document import Resources as Resources
from scenarios.lifestack.document import Route as Route
from scenarios.lifestack.document import Task as Task
from scenarios.lifestack.oddities import warnings as warnings
from scenarios.lifestack.oddities import winnable as winnable
from scenarios.lifestack.page import page as page
from scenarios.lifestack.planner import winnable as winnable_by_search
from scenarios.lifestack.view import canonical as canonical
from scenarios.lifestack.view import choices as choices
from scenarios.lifestack.view import document_actions as document_actions
from scenarios.lifestack.view import has_ended as has_ended
from scenarios.lifestack.view import observation as observation

Document = Task
__all__ = ["Document", "Environment", "winnable_by_search"]
