"""LifeOps in text: its documents, how they become arrays, and how a running day reads in their words."""

from jaxenv.envs.lifeops import Limits as Limits
from scenarios.lifeops.compiler import compile as compile
from scenarios.lifeops.compiler import decompile as decompile
from scenarios.lifeops.document import PERSONAS as PERSONAS
from scenarios.lifeops.document import Action as Action
from scenarios.lifeops.document import Day as Day
from scenarios.lifeops.document import Event as Event
from scenarios.lifeops.document import Persona as Persona
from scenarios.lifeops.document import Request as Request
from scenarios.lifeops.document import Task as Task
from scenarios.lifeops.format import FORMAT as FORMAT
from scenarios.lifeops.format import LifeOpsEnv as LifeOpsEnv
from scenarios.lifeops.view import names as names
