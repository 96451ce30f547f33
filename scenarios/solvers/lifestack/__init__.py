"""The planner of LifeStack: whether a crisis can be won by a player who sees all but the draws of events.

How the search is kept small, besides memoization and upper bounds:

- Knowledge is left out: to a player who sees everything, inspecting does the same as waiting, and costs time.
- A failed attempt is tried only where metrics matter beyond their worth, that is where a condition rests on one or
  routes and events could together bring one below 20. Elsewhere it costs more than the wait that it amounts to.
- Upkeep is nowhere forbidden when a result is called exact: no upkeep earns its step, so a detour lowers the upper
  bound and few detours are searched.
"""

from scenarios.solvers.lifestack.search import chance_to_win as chance_to_win
from scenarios.solvers.lifestack.search import winnable as winnable
