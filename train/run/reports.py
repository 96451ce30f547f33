"""The records of supersteps, each written while the next one runs, so that the device never waits for the host."""

from collections.abc import Callable

import jax

from train.run.algorithm import Metrics
from train.run.clock import Clock, MemberClock
from train.run.metrics import not_finite, reduce_metrics
from train.run.recorder import Recorder


class FailedUpdate(ArithmeticError):
    """An update whose loss or gradient was not finite; the state does not change from there on."""

    def __init__(self, terms: list[str]) -> None:
        """Names the terms of the loss that were not finite."""
        super().__init__(", ".join(terms))


class Reports:
    """Hands the record of each superstep to the recorder, one superstep late."""

    def __init__(self, recorder: Recorder, clock: Clock | MemberClock) -> None:
        """Starts with nothing to report."""
        self._recorder, self._clock = recorder, clock
        self._pending: tuple[int, Metrics, jax.Array | None, Callable[[float], None] | None] | None = None

    def add(
        self,
        number: int,
        metrics: Metrics,
        validation: jax.Array | None,
        on_validation: Callable[[float], None] | None = None,
    ) -> None:
        """Takes what a superstep will give and its validation return, if any, and reports what came before.

        Args:
            number: of the superstep.
            metrics: of its updates.
            validation: [] float32, the validation return after it.
            on_validation: is called with that return once it is known and written.

        Raises:
            FailedUpdate: if an earlier superstep had one.
        """
        self.flush()
        self._pending = number, metrics, validation, on_validation

    def flush(self) -> None:
        """Waits for what is not reported yet, and reports it.

        Raises:
            FailedUpdate: if it had one.
        """
        if self._pending is None:
            return
        (number, metrics, validation, on_validation), self._pending = self._pending, None
        record = {"superstep": number, **reduce_metrics(metrics), **self._clock.tick()}
        failed = not_finite(metrics)
        validation_return = None if validation is None or failed else float(validation)
        self._recorder.write({**record, "validation_return": validation_return})
        if validation_return is not None and on_validation is not None:
            on_validation(validation_return)
        self._clock.start()
        if failed:
            raise FailedUpdate(failed)
