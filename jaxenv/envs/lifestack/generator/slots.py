"""The slots of a plan before they are shuffled: which part each route has."""

LINKS = 5  # longest chain
TRAP = LINKS - 1  # the last link's, where the chain is shorter
FORK, FIRST_TURN, SECOND_TURN = range(LINKS, LINKS + 3)
NUM_ROUTES = LINKS + 3
THIRD_FIRST, THIRD_SECOND = FORK, TRAP  # of a commitment with three variants, which leaves no room for a fork
ASIDE_SLOTS = NUM_ROUTES - TRAP  # from TRAP on: those that may be traps or helps
