"""PQN, as pure functions of arrays: no files and no console."""

from train.learning.state import SPECS as SPECS
from train.learning.state import policy_of_values
from train.learning.state import training_bank as training_bank
from train.learning.state import with_weights as with_weights
from train.pqn.algorithm import init as init
from train.pqn.algorithm import make_superstep as make_superstep
from train.pqn.algorithm import make_update as make_update

policy_of = policy_of_values
name = "pqn"
