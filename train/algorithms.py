"""The learning algorithms by name; a new one is a package beside `train.ppo` and a row here."""

from train import dqn, ppo, pqn
from train.learning.algorithm import Algorithm

ALGORITHMS: dict[str, Algorithm] = {ppo.name: ppo, pqn.name: pqn, dqn.name: dqn}
