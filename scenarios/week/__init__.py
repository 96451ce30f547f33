"""Week in text: its documents, how they become arrays, and how a running week reads in their words."""

from jaxenv.envs.week import Limits as Limits
from scenarios.week.compiler import compile as compile
from scenarios.week.decompiler import decompile as decompile
from scenarios.week.document import Action as Action
from scenarios.week.document import Week as Week
from scenarios.week.format import FORMAT as FORMAT
from scenarios.week.view import names as names
