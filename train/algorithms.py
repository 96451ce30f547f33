"""The learning algorithms by name; a new one is a package beside `train.ppo` and a row here."""

from train import ppo
from train.run.algorithm import Algorithm

ALGORITHMS: dict[str, Algorithm] = {ppo.name: ppo}
