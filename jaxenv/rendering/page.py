"""The page around a scene: title, main panel, side panel, and the reward of the step that led there."""

from collections.abc import Sequence

from jaxenv.rendering.canvas import LARGE, SMALL, Canvas
from jaxenv.rendering.picture import Picture
from jaxenv.rendering.text import signed, spaced
from jaxenv.rendering.theme import ALARM, INK, MUTED
from jaxenv.rendering.view import Scene, Step

MARGIN, GAP, TITLE = 18.0, 20.0, 21.0  # points
ROW, EFFECT = 12.5, 11.0  # points, heights of one reward part and of one effect of a step
STEP, MIN_STEP = 30.0, 11.0  # points, of one step of an overview
INDENT = 18.0  # points, of the text beside a number
MAX_ROWS = 10  # parts shown; the rest are summed into one
MAX_EFFECTS = 6  # effects shown
ENDS = {"": "", "terminated": "The episode has ended.", "truncated": "Out of time."}


def page(scene: Scene, step: Step | None = None) -> Picture:
    """A scene and the step that led to it, or None for the first scene of an episode."""

    def draw(canvas: Canvas) -> None:
        body = _titled(canvas, scene.heading)
        side_left = scene.share * body.width
        scene.main(body.part(0, 0, side_left - GAP, body.height))
        side_width, rewards = body.width - side_left, 0.0
        if step is not None:
            rewards = 42 + EFFECT * len(_effects(step)) + ROW * len(_rows(step))  # the height of `_draw_reward`
            _draw_reward(body.part(side_left, body.height - rewards, side_width, rewards), step)
        scene.side(body.part(side_left, 0, side_width, body.height - rewards))

    lines = [] if step is None else [*_step_lines(step), _closing(step)]
    return Picture("\n".join([scene.heading, *lines, "", scene.text]), draw, scene.size)


def overview(first: Scene, last: Scene, steps: Sequence[Step]) -> Picture:
    """An episode at a glance: before, after, and the steps in between."""
    after = f"after {len(steps)} steps" if len(steps) != 1 else "after one step"

    def draw(canvas: Canvas) -> None:
        body = _titled(canvas, first.title if last.whole is None else last.heading)
        width = (body.width - 2 * GAP) * 0.355
        left = 2 * (width + GAP)
        if last.whole is not None:
            last.whole(body.part(0, 0, left - GAP, body.height))
        else:
            for x, scene, heading in ((0.0, first, "before"), (width + GAP, last, after)):
                column = body.part(x, 0, width, body.height)
                column.text(0, 5, heading, bold=True)
                scene.main(column.part(0, 16, width, body.height - 16))
        _draw_steps(body.part(left, 0, body.width - left, body.height), steps)

    rows = [f"{number:>3}. {signed(step.reward):>7}  {step.description}" for number, step in enumerate(steps, 1)]
    return Picture(_between(first, rows, steps, last), draw, first.size)


def transcript(first: Scene, last: Scene, steps: Sequence[Step]) -> str:
    """An episode as text: how it begins, every step with its effects and reward, and how it ends."""
    rows: list[str] = []
    for number, step in enumerate(steps, 1):
        head, *rest = _step_lines(step)
        rows += [f"{number:>3}. {head}", *(f"     {line}" for line in rest)]
    return _between(first, rows, steps, last)


def _between(first: Scene, rows: Sequence[str], steps: Sequence[Step], last: Scene) -> str:
    """The first scene, rows about the steps with the return under them, and the last scene."""
    closing = [_closing(steps[-1])] if steps else []
    return "\n".join([first.heading, "", first.text, "", *rows, *closing, "", last.heading, "", last.text])


def _titled(canvas: Canvas, title: str) -> Canvas:
    """Writes the title; returns the rest of the page."""
    canvas.text(MARGIN, MARGIN, title, size=LARGE, bold=True, width=canvas.width - 2 * MARGIN)
    top = MARGIN + TITLE
    return canvas.part(MARGIN, top, canvas.width - 2 * MARGIN, canvas.height - top - MARGIN / 2)


def _draw_reward(canvas: Canvas, step: Step) -> None:
    """The action, its effects, the reward, and its parts as bars to the left and right of zero."""
    canvas.line((0, canvas.width), (4, 4))
    canvas.text(canvas.width, 14, signed(step.reward), align="right", bold=True, color=_color(step.reward))
    canvas.text(0, 14, step.description, bold=True, width=canvas.width - 44)
    effects, rows = _effects(step), _rows(step)
    for row, line in enumerate(effects):
        canvas.text(0, 27 + row * EFFECT, line, size=SMALL, width=canvas.width)
    top = EFFECT * len(effects)
    zero, scale = _scale(canvas.width, [amount for _, amount in rows])
    for row, (name, amount) in enumerate(rows):
        y = top + 30 + row * ROW
        canvas.text(0, y, spaced(name), size=SMALL, color=MUTED)
        length = scale * amount
        canvas.box(min(zero, zero + length), y - 3, abs(length), 6, fill=_color(amount))
        side = 3 if amount > 0 else -3
        canvas.text(zero + length + side, y, signed(amount), size=SMALL, align="left" if amount > 0 else "right")
    if rows:
        canvas.line((zero, zero), (top + 24, top + 24 + len(rows) * ROW), color=MUTED)
    canvas.text(0, canvas.height - 5, _closing(step), size=SMALL, color=MUTED)


def _effects(step: Step) -> tuple[str, ...]:
    """The effects that fit; the last one stays, since it says why an episode ended."""
    if len(step.effects) <= MAX_EFFECTS:
        return step.effects
    hidden = len(step.effects) - MAX_EFFECTS + 1
    return (*step.effects[: MAX_EFFECTS - 2], f"and {hidden} more", step.effects[-1])


def _rows(step: Step) -> list[tuple[str, float]]:
    """The parts as rows, in the order of their fields."""
    rows = list(step.parts.items())
    if len(rows) <= MAX_ROWS:
        return rows
    rest = rows[MAX_ROWS - 1 :]
    return [*rows[: MAX_ROWS - 1], (f"{len(rest)} more", sum(amount for _, amount in rest))]


def _scale(width: float, amounts: Sequence[float]) -> tuple[float, float]:
    """(x of zero, points for a reward of one), with room for names at the left and numbers beside the bars."""
    left, right = 0.47 * width + 26, width - 30
    least, most = min([0.0, *amounts]), max([0.0, *amounts])
    scale = (right - left) / max(most - least, 1.0)
    return left - scale * least, scale


def _draw_steps(canvas: Canvas, steps: Sequence[Step]) -> None:
    """Each step in words with its reward, as a bar if there is room, and the return at the bottom.

    Where they do not fit, those that pay or cost.
    """
    canvas.text(0, 5, "steps", bold=True)
    height = canvas.height - 50
    pitch = min(STEP, max(height / max(len(steps), 1), MIN_STEP))
    shown = list(enumerate(steps, 1))
    if len(steps) * pitch > height:
        shown = [(number, step) for number, step in shown if round(step.reward, 2)][: int(height / pitch) - 1]
    per_point = max([1.0, *(abs(step.reward) for step in steps)]) / (canvas.width - INDENT - 30)
    y = 24.0
    for number, step in shown:
        color = _color(step.reward)
        canvas.text(0, y, f"{number}", size=SMALL, color=MUTED)
        if pitch > 18:
            length = abs(step.reward) / per_point
            canvas.text(INDENT, y, step.description, width=canvas.width - INDENT)
            canvas.box(INDENT, y + 8, length, 4, fill=color)
            canvas.text(INDENT + length + 4, y + 10, signed(step.reward), size=SMALL, color=color)
        else:
            canvas.text(INDENT, y, step.description, size=SMALL, width=canvas.width - INDENT - 34)
            canvas.text(canvas.width, y, signed(step.reward), size=SMALL, color=color, align="right")
        y += pitch
    if len(shown) < len(steps):
        canvas.text(INDENT, y, f"and {len(steps) - len(shown)} more", size=SMALL, color=MUTED)
        y += pitch
    canvas.line((0, canvas.width), (y - 4, y - 4))
    if steps:
        canvas.text(0, y + 7, _closing(steps[-1]), bold=True)


def _color(amount: float) -> str:
    """Alarm for a loss, else ink."""
    return ALARM if round(amount, 2) < 0 else INK


def _step_lines(step: Step) -> list[str]:
    """The action with its reward, the parts of the reward, and the effects."""
    parts = ", ".join(f"{spaced(name)} {signed(amount)}" for name, amount in step.parts.items())
    return [f"{step.description}: {signed(step.reward)}", *(f"  {line}" for line in (parts, *step.effects) if line)]


def _closing(step: Step) -> str:
    """The return so far, and why the episode has ended."""
    return f"return {signed(step.total)}.  {ENDS[step.end]}".rstrip()
