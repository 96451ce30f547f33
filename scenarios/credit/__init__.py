"""Credit by turn: what each action of a situation is worth."""

from scenarios.credit.values import Credit as Credit
from scenarios.credit.values import Values as Values
from scenarios.credit.values import policy_of as policy_of
