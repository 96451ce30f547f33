"""PPO, PQN and DQN for very large batches of JAX environments: collecting and learning in one compiled program."""

from jaxenv.evaluation import Evaluation as Evaluation
from jaxenv.evaluation import evaluate as evaluate
from train.networks.policy import NetworkPolicy as NetworkPolicy
from train.ppo.algorithm import init as init
from train.ppo.algorithm import make_superstep as make_superstep
from train.ppo.algorithm import make_update as make_update
from train.run.outputs import NotFinite as NotFinite
from train.run.outputs import Outcome as Outcome
from train.save.checkpoint import Finished as Finished
from train.save.policy_file import load_policy as load_policy
from train.save.policy_file import save_policy as save_policy
from train.score.calibration import Calibration as Calibration
from train.score.calibration import calibrate as calibrate
from train.settings.config import Config as Config
from train.settings.groups import Curriculum as Curriculum
from train.settings.groups import Hyper as Hyper
from train.settings.groups import Network as Network
from train.settings.groups import QLearning as QLearning
from train.settings.groups import Rollout as Rollout
from train.settings.groups import Scenarios as Scenarios
from train.settings.presets import preset as preset
from train.training import train as train
from train.training import train_population as train_population
