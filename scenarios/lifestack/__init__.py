"""LifeStack in text: its documents, how they become arrays, and how a running crisis reads in their words."""

from jaxenv.envs.lifestack import Limits as Limits
from scenarios.lifestack.compiler import compile as compile
from scenarios.lifestack.decompiler import decompile as decompile
from scenarios.lifestack.document import Action as Action
from scenarios.lifestack.document import AnyOf as AnyOf
from scenarios.lifestack.document import Comparison as Comparison
from scenarios.lifestack.document import Condition as Condition
from scenarios.lifestack.document import Constraints as Constraints
from scenarios.lifestack.document import Cost as Cost
from scenarios.lifestack.document import ExoEvent as ExoEvent
from scenarios.lifestack.document import Milestone as Milestone
from scenarios.lifestack.document import Resources as Resources
from scenarios.lifestack.document import Route as Route
from scenarios.lifestack.document import Task as Task
from scenarios.lifestack.format import FORMAT as FORMAT
from scenarios.lifestack.format import LifeStackEnv as LifeStackEnv
from scenarios.lifestack.view import names as names
