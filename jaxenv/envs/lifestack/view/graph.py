"""The graph of a crisis: needed facts, routes and their consequences, and how each precondition stands."""

from collections.abc import Callable, Mapping

from jaxenv.envs.lifestack.view.layout import Box, Layout, Node, boxes
from jaxenv.envs.lifestack.view.snapshot import (
    CLOSED,
    COMPLETED,
    FAILS,
    HOLDS,
    NOT_KNOWN,
    OPEN,
    SIGNS,
    Condition,
    Crisis,
    Route,
    Write,
)
from jaxenv.envs.lifestack.view.text import UNKNOWN, ticked_verbs
from jaxenv.rendering.canvas import SMALL, TEXT, TINY, Canvas, legend, swatch
from jaxenv.rendering.theme import ALARM, BLUE, FAINT, GREEN, INK, MUTED, ORANGE, PAPER, WASH, fitting, text_width, tint

STATUS_COLORS = {HOLDS: GREEN, FAILS: ALARM, NOT_KNOWN: MUTED}
FAILURE_COLORS = {HOLDS: ALARM, FAILS: INK, NOT_KNOWN: MUTED}  # of a failure condition
COLORS = {HOLDS: GREEN, FAILS: ALARM, **dict(zip(SIGNS.values(), (ORANGE, GREEN, ALARM), strict=True))}
EDGES = {OPEN: INK, COMPLETED: GREEN, CLOSED: FAINT}  # of consequences
HEADING, LEGEND = 16.0, 24.0  # points, heights of the rows above and below
LINE = 12.0  # points, the height of a line of conditions
PORT = 9.0  # points between edges that meet a route, maximum
SIGN = 9.0  # points, the width of a sign before a route
HEAD = 4.0  # points, of an arrow
LOW = 32.0  # points, the height below which the name of a route is small
SHOWN = 2.5  # points, the width of the bar of a fact that is always shown

KNOWN = {"fill": tint(BLUE, 0.16), "edge": BLUE, "line": 0.8}
HIDDEN = {"fill": WASH, "edge": MUTED, "line": 0.8, "dashed": True}


def draw(layout: Layout, crisis: Crisis, canvas: Canvas) -> None:
    """Conditions of success and failure, the graph under them, and a legend."""
    top = _draw_conditions(crisis, canvas) + 6
    headings, top = canvas.part(0, top, canvas.width, HEADING), top + HEADING
    graph = canvas.part(0, top, canvas.width, canvas.height - top - LEGEND)
    placed = boxes(layout, graph.width, graph.height)
    for nodes, words in ((layout.needs, "facts"), (layout.routes, "routes"), (layout.writes, "what they bring about")):
        if nodes:
            box = placed[nodes[0]]
            headings.text(box.x, 5, words, size=SMALL, bold=True, width=box.width)
    _draw_edges(crisis, graph, placed)
    for node in layout.needs:
        _draw_need(crisis, graph, placed[node], node)
    writes = {(write.key, write.value): write for route in crisis.routes for write in route.writes}
    for node in layout.writes:
        _draw_write(crisis, graph, placed[node], writes[node.slot, node.value])
    for node in layout.routes:
        _draw_route(crisis.routes[node.slot], graph, placed[node])
    _draw_legend(canvas.part(0, canvas.height - LEGEND + 4, canvas.width, LEGEND - 4))


def _draw_conditions(crisis: Crisis, canvas: Canvas) -> float:
    """The goal, and the conditions of success and failure; returns their height, points."""
    y = 5.0
    if crisis.names.goal:
        canvas.text(0, y, crisis.names.goal, width=canvas.width)
        y += LINE + 2
    y = _draw_row(canvas, y, f"{SIGNS['success']} Succeeds when", crisis.success, STATUS_COLORS)
    return _draw_row(canvas, y, f"{SIGNS['failure']} Fails when", crisis.failure, FAILURE_COLORS)


def _draw_row(
    canvas: Canvas, y: float, heading: str, conditions: tuple[Condition, ...], colors: Mapping[str, str]
) -> float:
    """Conditions side by side, in lines that fit, if there are any; returns the height under them."""
    if not conditions:
        return y
    canvas.text(0, y, heading, size=SMALL, color=MUTED)
    left = x = 70.0
    for condition in conditions:
        words = f"{condition.status} {condition.at_length}"
        if x > left and x + text_width(words, SMALL) > canvas.width:
            x, y = left, y + LINE
        x += canvas.text(x, y, words, size=SMALL, color=colors[condition.status], width=canvas.width - x) + 12
    return y + LINE


def _draw_edges(crisis: Crisis, canvas: Canvas, placed: Mapping[Node, Box]) -> None:
    """Preconditions with how they stand, and consequences; those of closed routes first, since they are faint."""
    ranked = sorted(enumerate(crisis.routes), key=lambda pair: pair[1].status != CLOSED)
    for number, route in ranked:
        box = placed[Node("route", number)]
        needs = [(placed[Node(need.kind, need.slot)], need) for need in route.needs]
        needs.sort(key=lambda pair: pair[0].y)
        for y, (start, need) in zip(_ports(box, len(needs)), needs, strict=True):
            color = STATUS_COLORS[need.status] if route.status != CLOSED else FAINT
            x = (start.right, box.x - SIGN)
            canvas.curve(x, (start.y, y), color=color, dashed=need.status == NOT_KNOWN)
            canvas.text(box.x - SIGN / 2, y, need.status, size=TINY, color=color, bold=True, align="center")
        writes = sorted((placed[Node("write", write.key, write.value)] for write in route.writes), key=lambda b: b.y)
        for y, end in zip(_ports(box, len(writes)), writes, strict=True):
            line = 1.2 if route.status == COMPLETED else 0.9
            canvas.curve((box.right, end.x), (y, end.y), color=EDGES[route.status], line=line, arrow=HEAD)


def _ports(box: Box, count: int) -> list[float]:
    """Where edges meet a side of a route."""
    pitch = min(PORT, box.height / max(count, 1))
    return [box.y + (n - (count - 1) / 2) * pitch for n in range(count)]


def _draw_need(crisis: Crisis, canvas: Canvas, box: Box, node: Node) -> None:
    """A fact with its value, if known, or a bound on a metric."""
    if node.kind == "bound":
        bound = crisis.bounds[node.slot]
        color = STATUS_COLORS[bound.status]
        canvas.box(*box.frame, fill=tint(color, 0.16), edge=color, line=0.8, radius=3)
        _write_in(canvas, box, bound.words, bound.now, INK, color)
        return
    fact = crisis.facts[node.slot]
    if fact.value is None:
        canvas.box(*box.frame, **HIDDEN, radius=3)
        _write_in(canvas, box, fact.name, UNKNOWN, INK if fact.wanted else MUTED, MUTED)
        return
    canvas.box(*box.frame, **KNOWN, radius=3)
    _write_in(canvas, box, fact.name, fact.value, INK, BLUE)
    if fact.shown:
        canvas.box(box.x, box.top, SHOWN, box.height, fill=BLUE)


def _draw_write(crisis: Crisis, canvas: Canvas, box: Box, write: Write) -> None:
    """A value that routes give to a fact, filled if the fact has it now, with signs of its consequences."""
    canvas.box(*box.frame, **(KNOWN if write.holds else {"fill": PAPER, "edge": MUTED, "line": 0.8}), radius=3)
    right = box.right - 3
    for sign in write.signs:
        right -= canvas.text(right, box.y, sign, size=TEXT, color=COLORS[sign], align="right") + 1
    size, room = SMALL if box.height > 9 else TINY, right - box.x - 7
    value = fitting(f"= {write.value}", room / 2, size)
    name = fitting(crisis.facts[write.key].name, room - text_width(f" {value}", size), size)
    canvas.text(box.x + 5, box.y, f"{name} {value}", size=size, width=room)


def _write_in(canvas: Canvas, box: Box, name: str, value: str, ink: str, value_ink: str) -> None:
    """A name at the left of a box and a value at the right."""
    size = SMALL if box.height > 9 else TINY
    room = max(box.width - text_width(name, size) - 16, 0.4 * box.width)
    used = canvas.text(box.right - 5, box.y, value, size=size, color=value_ink, bold=True, align="right", width=room)
    canvas.text(box.x + 5, box.y, name, size=size, color=ink, width=box.width - used - 15)


def _draw_route(route: Route, canvas: Canvas, box: Box) -> None:
    """A route: struck if closed, ticked if completed, with a heavy edge if it leads to success."""
    style = {
        OPEN: {"fill": PAPER, "edge": INK, "line": 1.6 if route.leads_to_success else 0.8},
        COMPLETED: {"fill": tint(GREEN, 0.16), "edge": GREEN, "line": 1.2},
        CLOSED: {"fill": WASH, "edge": FAINT, "line": 0.8},
    }
    canvas.box(*box.frame, radius=4, **style[route.status])
    shares = (0.22, 0.52, 0.81) if route.price or route.closes else (0.33, 0.7, 1.0)
    lines = [box.top + box.height * share for share in shares]
    _draw_route_name(route, canvas, box, lines[0])
    left, right = box.x + 6, box.right - 6
    x = left
    for words, (_, done) in zip(ticked_verbs(route), route.verbs, strict=True):
        color = GREEN if done else MUTED if route.status == CLOSED else INK
        x += canvas.text(x, lines[1], words, size=TINY, color=color, width=right - x) + 7
    if route.price:
        color = MUTED if route.affordable else ALARM
        left += canvas.text(left, lines[2], route.price, size=TINY, color=color, width=right - left) + 7
    if route.closes:
        canvas.text(left, lines[2], f"closes {', '.join(route.closes)}", size=TINY, color=MUTED, width=right - left)


def _draw_route_name(route: Route, canvas: Canvas, box: Box, y: float) -> None:
    """The name, a tick or a strike, and the reward."""
    ink, x = MUTED if route.status == CLOSED else INK, box.x + 6
    reward = canvas.text(box.right - 6, y, f"{route.reward:+g}", size=SMALL, color=ink, align="right")
    if route.status == COMPLETED:
        x += canvas.text(x, y, "✓", color=GREEN, bold=True) + 2
    size, room = TEXT if box.height > LOW else SMALL, box.right - reward - 10 - x
    name = canvas.text(x, y, route.name, size=size, color=ink, bold=route.leads_to_success, width=room)
    if route.status == CLOSED:
        canvas.line((x - 1, x + name), (y, y), color=MUTED, line=0.9)


def _draw_legend(canvas: Canvas) -> None:
    """The legend of colors and signs."""
    marks = [
        ("known", swatch(7, **KNOWN)),
        ("always shown", swatch(SHOWN, fill=BLUE)),
        ("unknown", swatch(7, **HIDDEN)),
        ("leads to success", swatch(7, fill=PAPER, edge=INK, line=1.6)),
        ("completed", swatch(7, fill=tint(GREEN, 0.16), edge=GREEN)),
        *((name, _sign(sign)) for name, sign in {"holds": HOLDS, "fails": FAILS, **SIGNS}.items()),
    ]
    legend(canvas, marks)


def _sign(sign: str) -> Callable[[Canvas, float, float], float]:
    """A function that draws a sign for a legend."""
    return lambda canvas, x, y: canvas.text(x, y, sign, size=SMALL, color=COLORS[sign])
