"""train: PPO for very large batches of JAX environments, collected and learned in one compiled program."""

from jaxenv.evaluation import Evaluation as Evaluation
from jaxenv.evaluation import evaluate as evaluate
from train.calibration import Calibration as Calibration
from train.calibration import calibrate as calibrate
from train.config import Config as Config
from train.policy import NetworkPolicy as NetworkPolicy
from train.policy import load_policy as load_policy
from train.policy import save_policy as save_policy
from train.ppo import init as init
from train.ppo import make_superstep as make_superstep
from train.ppo import make_update as make_update
from train.presets import preset as preset
