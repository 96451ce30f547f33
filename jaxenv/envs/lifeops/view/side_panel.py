"""Open decisions and work: the queue of requests and the remaining minutes of tasks."""

from jaxenv.envs.lifeops.view.main_panel import COLORS
from jaxenv.envs.lifeops.view.snapshot import Day, Entry, Task
from jaxenv.envs.lifeops.view.text import due, hidden, times
from jaxenv.rendering.canvas import SMALL, TEXT, Canvas
from jaxenv.rendering.text import joined
from jaxenv.rendering.theme import GREEN, INK, MUTED

REQUEST, TASK = 24.0, 22.0  # points, heights of the rows


def draw(day: Day, canvas: Canvas) -> None:
    """The requests in queue order, and under them the tasks with the remaining work of each as a bar."""
    y = _heading(canvas, 0.0, "Requests")
    for number, request in enumerate(day.queue):
        _draw_request(canvas, y, request, current=number == 0)
        y += REQUEST
    if rest := hidden(day) or ("" if day.queue else "none"):
        _note(canvas, y, rest)
        y += 14
    y = _heading(canvas, y + 8, "Work left")
    if not day.tasks:
        _note(canvas, y, "none")
    rows = int((canvas.height - y) // TASK)
    shown = day.tasks if len(day.tasks) <= rows else day.tasks[: max(rows - 1, 0)]
    for task in shown:
        _draw_task(canvas, y, task)
        y += TASK
    if others := day.tasks[len(shown) :]:
        _note(canvas, y, f"and {len(others)} more tasks with {sum(task.left for task in others)} min")


def _heading(canvas: Canvas, y: float, words: str) -> float:
    """A heading at height y; returns the height under it."""
    canvas.text(0, y + 5, words, bold=True)
    return y + 16


def _note(canvas: Canvas, y: float, words: str) -> None:
    """A line in grey."""
    canvas.text(8, y + 4, words, color=MUTED, size=SMALL)


def _draw_request(canvas: Canvas, y: float, request: Entry, current: bool) -> None:
    """Two lines beside a bar in the color of the kind; the current request has a dashed outline."""
    color, ink = COLORS[request.kind], INK if current else MUTED
    if current:
        canvas.box(0, y, canvas.width, REQUEST - 3, edge=color, line=1.1, dashed=True, radius=2.5)
    canvas.box(0, y + 1, 2.5, REQUEST - 5, fill=color)
    stakes = f"importance {request.importance}" + ("" if request.flexible else ", inflexible")
    used = canvas.text(canvas.width - 5, y + 6, stakes, size=SMALL, color=ink, align="right")
    canvas.text(8, y + 6, request.name, width=canvas.width - used - 20, color=ink)
    where = joined(times(request), request.place, request.person)
    canvas.text(8, y + 15, where, size=SMALL, color=MUTED, width=canvas.width - 14)


def _draw_task(canvas: Canvas, y: float, task: Task) -> None:
    """Name, facts, and the remaining share of the work as a bar."""
    facts = joined(f"{task.left} of {task.total} min", f"priority {task.priority}", due(task))
    used = canvas.text(canvas.width, y + 4, facts, size=SMALL, color=MUTED, align="right")
    canvas.text(8, y + 4, task.name, width=canvas.width - used - 16, color=INK if task.left else MUTED, size=TEXT)
    canvas.bar(8, y + 11, canvas.width - 8, 3.5, task.left / max(task.total, 1), GREEN)
