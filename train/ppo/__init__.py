"""PPO, as pure functions of arrays: no files and no console."""

from train.ppo.algorithm import SPECS as SPECS
from train.ppo.algorithm import Metrics as Metrics
from train.ppo.algorithm import TrainState as TrainState
from train.ppo.algorithm import init as init
from train.ppo.algorithm import make_superstep as make_superstep
from train.ppo.algorithm import make_update as make_update
from train.ppo.algorithm import policy_of as policy_of
from train.ppo.algorithm import training_bank as training_bank

name = "ppo"
