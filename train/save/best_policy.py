"""The best policy of a run: the one with the greatest validation return so far, in a file beside the last one."""

import functools
import math
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp

from train.networks.policy import LearnedPolicy
from train.save.policy_file import read_header

Save = Callable[[Path, LearnedPolicy, float], None]
"""Writes (file, policy, its validation return)."""


class BestPolicy:
    """Writes each policy that validates better than all before; of equal ones the first stays.

    The file contains its own validation return, so a resumed run continues from there, and any policy that a killed run
    wrote beyond its checkpoint is right all the same.
    """

    def __init__(self, path: Path | None, save: Save, policy: LearnedPolicy) -> None:
        """Reads the file, if there is one, and compiles the copying of weights.

        Args:
            path: the file; without one nothing is kept.
            save: writes it.
            policy: an example of those that will come.

        Raises:
            PolicyError: if the file is broken.
        """
        self._path, self._save = path, save
        self.validation_return = -math.inf
        if path is not None and path.exists():
            self.validation_return = read_header(path)["validation_return"]
        self.candidate(policy)

    def candidate(self, policy: LearnedPolicy) -> Callable[[float], None] | None:
        """A function to call with the validation return of this policy, once it is computed.

        By then training has gone on and its arrays are donated, so the weights are copied now. None if nothing is kept.
        """
        return None if self._path is None else functools.partial(self._offer, jax.tree.map(jnp.copy, policy))

    def _offer(self, policy: LearnedPolicy, validation_return: float) -> None:
        """Writes a policy if it is the best so far; one whose return is NaN is not."""
        if self._path is not None and validation_return > self.validation_return:
            self._save(self._path, policy, validation_return)
            self.validation_return = validation_return
