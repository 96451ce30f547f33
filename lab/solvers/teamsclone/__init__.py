"""Known returns of TeamsClone: returns of policies, and an upper bound for all policies.

The bound is a relaxation of information (Brown, Smith and Sun 2010): no policy earns more than a player who knows all
draws of the episode from the start, and that player is bounded for each sample of draws.
"""

from lab.solvers.teamsclone.bound import upper_bound as upper_bound
from lab.solvers.teamsclone.expectation import Expectation as Expectation
from lab.solvers.teamsclone.expectation import expected_bound as expected_bound
