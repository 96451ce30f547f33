"""The reward of a turn, a row for each term (docs/rules/week.md, section 4)."""

from jaxenv.core.printing import Compact
from jaxenv.core.terms import Weight, parts_type, preset, term


class RewardWeights(Compact):
    """What points are worth, each a [] float32 (or a Python float)."""

    meetings: Weight = term(lambda turn: turn.meetings, doc="a promised meeting, by the share attended", paid=1.0)
    missed: Weight = term(lambda turn: turn.missed, doc="a promised meeting attended by less than half", paid=-0.5)
    errands: Weight = term(lambda turn: turn.errand, doc="an errand that is done", paid=1.0)
    projects: Weight = term(lambda turn: turn.project, doc="a part of a project that is done", paid=1.0)
    answers: Weight = term(lambda turn: turn.answer, doc="a question answered with the truth", paid=1.0)
    wrong: Weight = term(lambda turn: turn.wrong, doc="a question answered otherwise", paid=-1 / 6)


PAID: RewardWeights = preset(RewardWeights, "paid")
RewardParts = parts_type(RewardWeights)
