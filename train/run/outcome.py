"""How a run ends: its result, or a loss that is not finite."""

import dataclasses

import numpy as np

from train.networks.policy import LearnedPolicy


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The result of a run.

    >>> import numpy as np, train
    >>> curve = {"return": np.array([-20.5, 3.25])}
    >>> outcome = train.Outcome(None, 8_192, 2.0, 4.5, stopped=False, metrics=curve)  # `train.train` gives one
    >>> float(outcome.metrics["return"][-1]), outcome.env_steps / outcome.seconds
    (3.25, 4096.0)
    """

    policy: LearnedPolicy  # as it was at the end; `jaxenv.evaluate` and `train.save_policy` take it
    env_steps: int  # of the whole run, also of its parts before it was resumed
    seconds: float  # from the first superstep on, including validation and checkpoints
    compile_seconds: float  # before the first superstep: compilation, and for a moment the first bank and episodes
    stopped: bool  # interrupted by a signal or the callback
    metrics: dict[str, np.ndarray]  # name -> [supersteps], as in `metrics.jsonl`; NaN where a record has nothing
    failure: str | None = None  # of a member of a population: the terms of the loss that were not finite


class NotFinite(ArithmeticError):
    """A loss or gradient is NaN or infinite, so training cannot continue.

    >>> import train
    >>> try:
    ...     raise train.NotFinite("not finite in update 3 of 64: policy_loss")  # as `train.train` does
    ... except train.NotFinite as failed:
    ...     print(failed)
    not finite in update 3 of 64: policy_loss
    """


class FailedUpdate(ArithmeticError):
    """An update whose loss or gradient was not finite; the state does not change from there on."""

    def __init__(self, terms: list[str]) -> None:
        """Names the terms of the loss that were not finite."""
        super().__init__(", ".join(terms))
