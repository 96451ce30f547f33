"""What is still to be decided and done: the queue of requests and the work left."""

from jaxenv.rendering.canvas import FAINT, GREEN, INK, MUTED, SMALL, TEXT, Canvas
from jaxenv.rendering.lifeops.agenda import COLORS
from jaxenv.rendering.lifeops.day import Day, Entry, Work
from jaxenv.rendering.lifeops.text import due, times

REQUEST, TASK = 24.0, 22.0  # points, heights of the rows


def draw(day: Day, canvas: Canvas) -> None:
    """Requests, first come, and under them the tasks with what is left of each as a bar."""
    y = _heading(canvas, 0.0, "Requests")
    for number, request in enumerate(day.queue):
        _draw_request(canvas, y, request, current=number == 0)
        y += REQUEST
    rest = f"and {day.hidden} more, hidden" if day.hidden else "" if day.queue else "none"
    if rest:
        canvas.text(8, y + 4, rest, color=MUTED, size=SMALL)
        y += 14
    y = _heading(canvas, y + 8, "Work left")
    if not day.tasks:
        canvas.text(8, y + 4, "none", color=MUTED, size=SMALL)
    room = int((canvas.height - y) // TASK)
    shown = day.tasks if len(day.tasks) <= room else day.tasks[: max(room - 1, 0)]
    for task in shown:
        _draw_task(canvas, y, task)
        y += TASK
    if len(shown) < len(day.tasks):
        others = day.tasks[len(shown) :]
        words = f"and {len(others)} more tasks with {sum(task.left for task in others)} min"
        canvas.text(8, y + 4, words, color=MUTED, size=SMALL)


def _heading(canvas: Canvas, y: float, words: str) -> float:
    """A heading at height y; where what is under it begins."""
    canvas.text(0, y + 5, words, bold=True)
    return y + 16


def _draw_request(canvas: Canvas, y: float, request: Entry, current: bool) -> None:
    """Two lines beside a bar in the colour of its kind, dashed outline and all for the current one."""
    color = COLORS[request.kind]
    if current:
        canvas.box(0, y, canvas.width, REQUEST - 3, edge=color, line=1.1, dashed=True, radius=2.5)
    canvas.box(0, y + 1, 2.5, REQUEST - 5, fill=color)
    stakes = f"importance {request.importance}" + ("" if request.flexible else ", inflexible")
    used = canvas.text(canvas.width - 5, y + 6, stakes, size=SMALL, color=INK if current else MUTED, align="right")
    canvas.text(8, y + 6, request.name, width=canvas.width - used - 20, color=INK if current else MUTED)
    where = " · ".join(filter(None, [times(request), request.place, request.person]))
    canvas.text(8, y + 15, where, size=SMALL, color=MUTED, width=canvas.width - 14)


def _draw_task(canvas: Canvas, y: float, task: Work) -> None:
    """Name, facts and a bar of the minutes that are left out of those of the morning."""
    facts = " · ".join(filter(None, [f"{task.left} of {task.total} min", f"priority {task.priority}", due(task)]))
    used = canvas.text(canvas.width, y + 4, facts, size=SMALL, color=MUTED, align="right")
    canvas.text(8, y + 4, task.name, width=canvas.width - used - 16, color=INK if task.left else MUTED, size=TEXT)
    width = canvas.width - 8
    canvas.box(8, y + 11, width, 3.5, fill=FAINT)
    canvas.box(8, y + 11, width * task.left / max(task.total, 1), 3.5, fill=GREEN)
