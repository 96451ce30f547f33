"""The page around a scene: title, main part, side part, and the reward of the step that led there."""

import dataclasses
from collections.abc import Sequence

from jaxenv.rendering.canvas import ALARM, INK, LARGE, MUTED, SMALL, Canvas
from jaxenv.rendering.picture import Picture
from jaxenv.rendering.view import Scene, Step

MARGIN, GAP, TITLE = 18.0, 20.0, 21.0  # points
ROW, TOLD = 12.5, 11.0  # points, of one reward part, and of a line about what a step did
STEP, LEAST_STEP = 30.0, 11.0  # points, of one step of an overview
INDENT = 14.0  # points, of what stands beside a number
MOST_ROWS = 10  # parts shown; the rest are summed into one
MOST_TOLD = 6  # lines about what a step did
ENDS = {"": "", "terminated": "The episode has ended.", "truncated": "Out of time."}


def page(scene: Scene, step: Step | None = None) -> Picture:
    """A scene and the step that led to it, None for the first of an episode."""

    def draw(canvas: Canvas) -> None:
        body = _titled(canvas, scene.heading)
        side_left = scene.share * body.width
        scene.main(body.part(0, 0, side_left - GAP, body.height))
        side_width, rewards = body.width - side_left, 0.0
        if step is not None:
            rewards = _reward_height(step)
            _draw_reward(body.part(side_left, body.height - rewards, side_width, rewards), step)
        scene.side(body.part(side_left, 0, side_width, body.height - rewards))

    return Picture("\n".join([scene.heading, *_step_lines(step), "", scene.text]), draw, scene.size)


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

    rows = [f"{number:>3}. {_signed(step.reward):>7}  {step.words}" for number, step in enumerate(steps, 1)]
    text = [first.heading, "", first.text, "", *rows, *_closing(steps), "", last.heading, "", last.text]
    return Picture("\n".join(text), draw, first.size)


def transcript(first: Scene, last: Scene, steps: Sequence[Step]) -> str:
    """An episode as text: how it begins, every step with what it did and was worth, and how it ends."""
    rows: list[str] = []
    for number, step in enumerate(steps, 1):
        head, *parts = _step_lines(dataclasses.replace(step, end=""))[:-1]
        rows += [f"{number:>3}. {head}", *(f"     {line}" for line in parts)]
    return "\n".join([first.heading, "", first.text, "", *rows, *_closing(steps), "", last.heading, "", last.text])


def _titled(canvas: Canvas, title: str) -> Canvas:
    """Writes the title; what is left of the page."""
    canvas.text(MARGIN, MARGIN, title, size=LARGE, bold=True, width=canvas.width - 2 * MARGIN)
    top = MARGIN + TITLE
    return canvas.part(MARGIN, top, canvas.width - 2 * MARGIN, canvas.height - top - MARGIN / 2)


def _draw_reward(canvas: Canvas, step: Step) -> None:
    """The action, the reward, and its parts as bars to the left and right of zero."""
    canvas.line((0, canvas.width), (4, 4))
    number = _signed(step.reward)
    canvas.text(canvas.width, 14, number, align="right", bold=True, color=_color(step.reward))
    canvas.text(0, 14, step.words, bold=True, width=canvas.width - 44)
    told, rows = _told(step), _rows(step)
    top = TOLD * len(told)
    for row, line in enumerate(told):
        canvas.text(0, 27 + row * TOLD, line, size=SMALL, width=canvas.width)
    zero, scale = _scale(canvas.width, [amount for _, amount in rows])
    for row, (name, amount) in enumerate(rows):
        y = top + 30 + row * ROW
        canvas.text(0, y, _in_words(name), size=SMALL, color=MUTED)
        length = scale * amount
        canvas.box(min(zero, zero + length), y - 3, abs(length), 6, fill=_color(amount))
        side = 3 if amount > 0 else -3
        canvas.text(zero + length + side, y, _signed(amount), size=SMALL, align="left" if amount > 0 else "right")
    if rows:
        canvas.line((zero, zero), (top + 24, top + 24 + len(rows) * ROW), color=MUTED)
    foot = f"return {_signed(step.total)}.  {ENDS[step.end]}".rstrip()
    canvas.text(0, canvas.height - 5, foot, size=SMALL, color=MUTED)


def _reward_height(step: Step) -> float:
    """Points that `_draw_reward` takes."""
    return 42 + TOLD * len(_told(step)) + len(_rows(step)) * ROW


def _told(step: Step) -> tuple[str, ...]:
    """The lines about what the step did that there is room for; the end of an episode is the last of them."""
    if len(step.told) <= MOST_TOLD:
        return step.told
    return (*step.told[: MOST_TOLD - 2], f"and {len(step.told) - MOST_TOLD + 1} more", step.told[-1])


def _rows(step: Step) -> list[tuple[str, float]]:
    """The parts as rows, in the order of their fields."""
    rows = list(step.parts.items())
    if len(rows) > MOST_ROWS:
        rest = rows[MOST_ROWS - 1 :]
        rows = [*rows[: MOST_ROWS - 1], (f"{len(rest)} more", sum(amount for _, amount in rest))]
    return rows


def _scale(width: float, amounts: Sequence[float]) -> tuple[float, float]:
    """(where zero lies, points for a reward of one), with room for names at the left and numbers at the bars."""
    left, right = 0.47 * width + 26, width - 30
    least, most = min([0.0, *amounts]), max([0.0, *amounts])
    scale = (right - left) / max(most - least, 1.0)
    return left - scale * least, scale


def _draw_steps(canvas: Canvas, steps: Sequence[Step]) -> None:
    """Each step in words, its reward as a bar under it, and at the bottom the return."""
    canvas.text(0, 5, "steps", bold=True)
    room = canvas.height - 50
    pitch = min(STEP, max(room / max(len(steps), 1), LEAST_STEP))
    shown = steps if len(steps) * pitch <= room else steps[: int(room / pitch) - 1]
    per_point = max([1.0, *(abs(step.reward) for step in steps)]) / (canvas.width - INDENT - 30)
    y = 24.0
    for number, step in enumerate(shown, 1):
        color = _color(step.reward)
        canvas.text(0, y, f"{number}", size=SMALL, color=MUTED)
        if pitch > 18:
            length = abs(step.reward) / per_point
            canvas.text(INDENT, y, step.words, width=canvas.width - INDENT)
            canvas.box(INDENT, y + 8, length, 4, fill=color)
            canvas.text(INDENT + length + 4, y + 10, _signed(step.reward), size=SMALL, color=color)
        else:
            canvas.text(INDENT, y, step.words, size=SMALL, width=canvas.width - INDENT - 34)
            canvas.text(canvas.width, y, _signed(step.reward), size=SMALL, color=color, align="right")
        y += pitch
    if len(shown) < len(steps):
        canvas.text(INDENT, y, f"and {len(steps) - len(shown)} more", size=SMALL, color=MUTED)
        y += pitch
    canvas.line((0, canvas.width), (y - 4, y - 4))
    for closing in _closing(steps):
        canvas.text(0, y + 7, closing, bold=True)


def _color(amount: float) -> str:
    """Ink for what is won and alarm for what is lost."""
    return ALARM if round(amount, 2) < 0 else INK


def _step_lines(step: Step | None) -> list[str]:
    """The step as text."""
    if step is None:
        return []
    parts = [f"{_in_words(name)} {_signed(amount)}" for name, amount in step.parts.items()]
    lines = [f"{step.words}: {_signed(step.reward)}"]
    if parts:
        lines.append("  " + ", ".join(parts))
    return [*lines, *(f"  {line}" for line in step.told), *_closing([step])]


def _closing(steps: Sequence[Step]) -> list[str]:
    """The return, and why the episode has ended."""
    return [f"return {_signed(steps[-1].total)}.  {ENDS[steps[-1].end]}".rstrip()] if steps else []


def _signed(number: float) -> str:
    """A reward with its sign: `+1.50`, `−2.00`, `0.00`."""
    return f"{number:+.2f}".replace("-", "−") if round(number, 2) else "0.00"


def _in_words(name: str) -> str:
    """A field's name for people: `overlap_penalty` as `overlap penalty`."""
    return name.replace("_", " ")
