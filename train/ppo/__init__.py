"""PPO, as pure functions of arrays: no files and no console."""

from train.learning.state import SPECS as SPECS
from train.learning.state import policy_of as policy_of
from train.learning.state import training_bank as training_bank
from train.learning.state import with_weights as with_weights
from train.ppo.algorithm import init as init
from train.ppo.algorithm import make_superstep as make_superstep
from train.ppo.algorithm import make_update as make_update

name = "ppo"
abilities = ("normalizes", "clips", "remembers", "imitates", "scores scenarios")
