"""The protocol by which agents are compared: the sets of scenarios, one call that scores, and what it found."""

from train.protocol.score import Score as Score
from train.protocol.scoring import score as score
from train.score.held_out import held_out as held_out
from train.score.held_out import validation_params as validation_params
from train.score.scores import Aggregate as Aggregate
from train.score.scores import aggregate as aggregate
from train.score.scores import paired_difference as paired_difference
