"""What a step did, in lines: routes, facts, milestones, events, metrics, and the end."""

from collections.abc import Iterator

import numpy as np

from jaxenv.envs.lifestack.types import OUTCOMES
from jaxenv.rendering.lifestack.crisis import CLOSED, COMPLETED, REACHED, Crisis
from jaxenv.rendering.lifestack.signs import metric_name

MOST_MOVED = 3  # metrics told
LEAST_MOVE = 0.5  # of a metric that is told
_, SUCCESS, CONDITION, DEADLINE, DEAD_END, BURNOUT = OUTCOMES
REASONS = {
    SUCCESS: "success",
    CONDITION: "a failure condition holds",
    DEADLINE: "the deadline has come",
    DEAD_END: "no route is left that could help",
    BURNOUT: "burnout",
}


def told(before: Crisis, after: Crisis, attempted: int | None) -> list[str]:
    """What an agent sees of a step.

    Args:
        before: the crisis.
        after: the crisis one step later.
        attempted: the slot of the route whose last verb the step was, None where it was none.
    """
    lines = [*_routes(before, after, attempted), *_facts(before, after), *_milestones(before, after)]
    return [*lines, *_events(before, after), *_metrics(before, after), *_end(after)]


def _routes(before: Crisis, after: Crisis, attempted: int | None) -> Iterator[str]:
    """Routes that were completed, attempted in vain, and closed."""
    for number, (was, now) in enumerate(zip(before.routes, after.routes, strict=True)):
        if now.status == COMPLETED != was.status:
            yield f"completed: {now.name}"
        elif number == attempted:
            yield f"failed attempt: {now.name}"
    closed = [
        now.name for was, now in zip(before.routes, after.routes, strict=True) if now.status == CLOSED != was.status
    ]
    if closed:
        yield f"closed: {', '.join(closed)}"


def _facts(before: Crisis, after: Crisis) -> Iterator[str]:
    """Facts of which more is known, or whose known value is another."""
    pairs = list(zip(before.facts, after.facts, strict=True))
    learned = [f"{now.name} = {now.value}" for was, now in pairs if was.value is None and now.value is not None]
    changed = [f"{now.name} = {now.value}" for was, now in pairs if was.value is not None and was.value != now.value]
    if learned:
        yield f"learned: {', '.join(learned)}"
    if changed:
        yield f"now: {', '.join(changed)}"


def _milestones(before: Crisis, after: Crisis) -> Iterator[str]:
    for was, now in zip(before.milestones, after.milestones, strict=True):
        if now.status == REACHED != was.status:
            yield f"milestone: {now.name} ({now.reward:+g})"


def _events(before: Crisis, after: Crisis) -> Iterator[str]:
    """Events that are told."""
    for event in after.events:
        if event not in before.events:
            story = after.names.stories[event]
            yield f"event: {after.names.events[event]}{f' ({story})' if story else ''}"


def _metrics(before: Crisis, after: Crisis) -> Iterator[str]:
    """The metrics that moved most."""
    moves = after.metrics - before.metrics
    most = [n for n in np.argsort(-np.abs(moves), kind="stable")[:MOST_MOVED].tolist() if abs(moves[n]) >= LEAST_MOVE]
    if most:
        said = [f"{metric_name(n)} {moves[n]:+.1f} to {after.metrics[n]:.1f}".replace("-", "−") for n in most]
        yield f"moved most: {', '.join(said)}"


def _end(after: Crisis) -> Iterator[str]:
    """Why it ended."""
    if not after.outcome:
        return
    reason = REASONS.get(after.outcome, after.outcome)
    if after.outcome == BURNOUT:
        reason += f", {', '.join(metric_name(n) for n in np.flatnonzero(after.metrics <= 0).tolist())} at 0"
    yield f"end: {reason}"
