"""The planner: how well a task can be played by somebody who sees the hidden facts and the schedule, not the draws.

How the search is kept small, beside a memo and upper bounds:

- Knowledge is left out: to somebody who sees, inspecting does the same as waiting, and costs time.
- A failed attempt is tried only where metrics matter beyond their worth, that is where a condition rests on one or
  routes and events could together bring one below 20. Elsewhere it costs more than the wait that it amounts to.
- Upkeep is nowhere forbidden when a result is called exact: no upkeep earns its step, so a detour lowers the upper
  bound and few detours are looked at. The policies that are found first use upkeep in 0, 1, 2, … steps at most.
"""

from scenarios.lifestack.planner.plans import Plan as Plan
from scenarios.lifestack.planner.plans import chance_to_win as chance_to_win
from scenarios.lifestack.planner.plans import plan as plan
from scenarios.lifestack.planner.plans import winnable as winnable
