"""The graph of a crisis: facts that routes need, the routes, what they write; how each precondition stands."""

from collections.abc import Mapping

from jaxenv.envs.lifestack.types import FAILS, HOLDS, NOT_KNOWN
from jaxenv.rendering.canvas import (
    ALARM,
    BLUE,
    FAINT,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PAPER,
    SMALL,
    TEXT,
    TINY,
    WASH,
    Canvas,
    fitting,
    text_width,
    tint,
)
from jaxenv.rendering.lifestack.crisis import CLOSED, COMPLETED, OPEN, Condition, Crisis, Route, Write
from jaxenv.rendering.lifestack.layout import Box, Layout, Node, boxes
from jaxenv.rendering.lifestack.signs import DANGER, FLAG, SIGNS, STAR

STANDS = {HOLDS: GREEN, FAILS: ALARM, NOT_KNOWN: MUTED}
FEARED = {HOLDS: ALARM, FAILS: INK, NOT_KNOWN: MUTED}  # of a failure condition
EDGES = {OPEN: INK, COMPLETED: GREEN, CLOSED: FAINT}  # of consequences
HEADING, LEGEND = 16.0, 24.0  # points, of the rows above and below
LINE = 12.0  # points, of conditions
PORT = 9.0  # points between edges that meet a route, at most
SIGN = 9.0  # points, the room of a sign before a route
HEAD = 4.0  # points, of an arrow
LOW = 32.0  # points, the height under which a route's name is written small
SHOWN = 2.5  # points, the bar of a fact whose current value always shows


def draw(crisis: Crisis, layout: Layout, canvas: Canvas) -> None:
    """Conditions of success and failure, under them the graph, at the bottom what its marks mean."""
    top = _draw_conditions(crisis, canvas) + 6
    _draw_headings(canvas.part(0, top, canvas.width, HEADING), layout)
    top += HEADING
    graph = canvas.part(0, top, canvas.width, canvas.height - top - LEGEND)
    placed = boxes(layout, graph.width, graph.height)
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
    """The goal, and what success and failure rest on; points that it took."""
    y = 5.0
    if crisis.names.goal:
        canvas.text(0, y, crisis.names.goal, width=canvas.width)
        y += LINE + 2
    rows = ((f"{STAR} Succeeds when", crisis.success, STANDS), (f"{DANGER} Fails when", crisis.failure, FEARED))
    for heading, conditions, colors in rows:
        if conditions:
            y = _draw_row(canvas, y, heading, conditions, colors)
    return y


def _draw_row(
    canvas: Canvas, y: float, heading: str, conditions: tuple[Condition, ...], colors: Mapping[int, str]
) -> float:
    """Conditions one behind another, in lines that fit; where the next row begins."""
    canvas.text(0, y, heading, size=SMALL, color=MUTED)
    left = x = 70.0
    for condition in conditions:
        words = f"{SIGNS[condition.stands]} {condition.at_length}"
        if x > left and x + text_width(words, SMALL) > canvas.width:
            x, y = left, y + LINE
        x += canvas.text(x, y, words, size=SMALL, color=colors[condition.stands], width=canvas.width - x) + 12
    return y + LINE


def _draw_headings(canvas: Canvas, layout: Layout) -> None:
    """What the columns are."""
    placed = boxes(layout, canvas.width, canvas.height)
    for nodes, words in ((layout.needs, "facts"), (layout.routes, "routes"), (layout.writes, "what they bring about")):
        if nodes:
            box = placed[nodes[0]]
            canvas.text(box.x, 5, words, size=SMALL, bold=True, width=box.width)


def _draw_edges(crisis: Crisis, canvas: Canvas, placed: Mapping[Node, Box]) -> None:
    """Preconditions with how they stand, and consequences; those of closed routes first, since they are faint."""
    ranked = sorted(enumerate(crisis.routes), key=lambda pair: pair[1].status != CLOSED)
    for number, route in ranked:
        box = placed[Node("route", number)]
        needs = [(placed[Node("bound" if need.of_bound else "fact", need.slot)], need) for need in route.needs]
        needs.sort(key=lambda pair: pair[0].y)
        for y, (start, need) in zip(_ports(box, len(needs)), needs, strict=True):
            color = STANDS[need.stands] if route.status != CLOSED else FAINT
            x = (start.right, box.x - SIGN)
            canvas.curve(x, (start.y, y), color=color, dashed=need.stands == NOT_KNOWN)
            canvas.text(box.x - SIGN / 2, y, SIGNS[need.stands], size=TINY, color=color, bold=True, align="center")
        writes = sorted((placed[Node("write", write.key, write.value)] for write in route.writes), key=lambda b: b.y)
        for y, end in zip(_ports(box, len(writes)), writes, strict=True):
            line = 1.2 if route.status == COMPLETED else 0.9
            canvas.curve((box.right, end.x), (y, end.y), color=EDGES[route.status], line=line, arrow=HEAD)


def _ports(box: Box, count: int) -> list[float]:
    """Where edges meet a side of a route."""
    pitch = min(PORT, box.height / max(count, 1))
    return [box.y + (n - (count - 1) / 2) * pitch for n in range(count)]


def _draw_need(crisis: Crisis, canvas: Canvas, box: Box, node: Node) -> None:
    """A fact with the value that is known, or a bound on a metric."""
    if node.kind == "bound":
        bound = crisis.bounds[node.slot]
        _draw_label(canvas, box, bound.words, bound.now, STANDS[bound.stands], STANDS[bound.stands])
        return
    fact = crisis.facts[node.slot]
    if fact.value is None:
        canvas.box(box.x, box.top, box.width, box.height, fill=WASH, edge=MUTED, line=0.8, dashed=True, radius=3)
        _write_in(canvas, box, fact.name, "?", INK if fact.wanted else MUTED, MUTED)
    else:
        _draw_label(canvas, box, fact.name, fact.value, BLUE, BLUE)
        if fact.shown:
            canvas.box(box.x, box.top, SHOWN, box.height, fill=BLUE)


def _draw_write(crisis: Crisis, canvas: Canvas, box: Box, write: Write) -> None:
    """A value that routes give to a fact, filled where it has that value now, with what it is good or bad for."""
    marks = [(write.succeeds, STAR, ORANGE), (write.reaches, FLAG, GREEN), (write.fails, DANGER, ALARM)]
    fill = tint(BLUE, 0.16) if write.holds else PAPER
    canvas.box(
        box.x, box.top, box.width, box.height, fill=fill, edge=BLUE if write.holds else MUTED, line=0.8, radius=3
    )
    right = box.right - 3
    for applies, sign, color in marks:
        if applies:
            right -= canvas.text(right, box.y, sign, size=TEXT, color=color, align="right") + 1
    size, room = _size(box), right - box.x - 7
    value = fitting(f"= {write.value}", room / 2, size)
    name = fitting(crisis.facts[write.key].name, room - text_width(f" {value}", size), size)
    canvas.text(box.x + 5, box.y, f"{name} {value}", size=size, width=room)


def _draw_label(canvas: Canvas, box: Box, name: str, value: str, color: str, ink: str) -> None:
    """A box of something known."""
    canvas.box(box.x, box.top, box.width, box.height, fill=tint(color, 0.16), edge=color, line=0.8, radius=3)
    _write_in(canvas, box, name, value, INK, ink)


def _write_in(canvas: Canvas, box: Box, name: str, value: str, ink: str, value_ink: str) -> None:
    """A name at the left and a value at the right."""
    size = _size(box)
    shown = max(box.width - text_width(name, size) - 16, 0.4 * box.width)
    used = canvas.text(box.right - 5, box.y, value, size=size, color=value_ink, bold=True, align="right", width=shown)
    canvas.text(box.x + 5, box.y, name, size=size, color=ink, width=box.width - used - 15)


def _size(box: Box) -> float:
    """Of the text in a box."""
    return SMALL if box.height > 9 else TINY


def _draw_route(route: Route, canvas: Canvas, box: Box) -> None:
    """A route: struck where it is closed, ticked where it is completed, with a heavy edge where it leads to success."""
    looks = {
        OPEN: {"fill": PAPER, "edge": INK, "line": 1.6 if route.serves else 0.8},
        COMPLETED: {"fill": tint(GREEN, 0.16), "edge": GREEN, "line": 1.2},
        CLOSED: {"fill": WASH, "edge": FAINT, "line": 0.8},
    }
    canvas.box(box.x, box.top, box.width, box.height, radius=4, **looks[route.status])
    shares = (0.22, 0.52, 0.81) if route.price or route.closes else (0.33, 0.7, 1.0)
    lines = [box.top + box.height * share for share in shares]
    ink, x, width = MUTED if route.status == CLOSED else INK, box.x + 6, box.width - 12
    reward = canvas.text(box.right - 6, lines[0], f"{route.reward:+g}", size=SMALL, color=ink, align="right")
    if route.status == COMPLETED:
        x += canvas.text(x, lines[0], "✓", color=GREEN, bold=True) + 2
    size = TEXT if box.height > LOW else SMALL
    name = canvas.text(
        x, lines[0], route.name, size=size, color=ink, bold=route.serves, width=box.right - reward - 10 - x
    )
    if route.status == CLOSED:
        canvas.line((x - 1, x + name), (lines[0], lines[0]), color=MUTED, line=0.9)
    _draw_verbs(route, canvas, box.x + 6, lines[1], width)
    left, y = box.x + 6, lines[2]
    if route.price:
        color = MUTED if route.affordable else ALARM
        left += canvas.text(left, y, route.price, size=TINY, color=color, width=width) + 7
    if route.closes:
        closes = f"closes {', '.join(route.closes)}"
        canvas.text(left, y, closes, size=TINY, color=MUTED, width=box.x + 6 + width - left)


def _draw_verbs(route: Route, canvas: Canvas, x: float, y: float, width: float) -> None:
    """The verbs, those done ticked; none is to be done any more on a route that is not open."""
    right = x + width
    for verb, done in route.verbs:
        words = f"✓ {verb}" if done else verb
        color = GREEN if done else MUTED if route.status == CLOSED else INK
        x += canvas.text(x, y, words, size=TINY, color=color, width=right - x) + 7


def _draw_legend(canvas: Canvas) -> None:
    """What colours and signs mean, in rows that fit."""
    marks = [
        ({"fill": tint(BLUE, 0.16), "edge": BLUE, "line": 0.8}, "", "known"),
        ({"fill": BLUE, "width": SHOWN}, "", "always shown"),
        ({"fill": WASH, "edge": MUTED, "line": 0.8, "dashed": True}, "", "unknown"),
        ({"fill": PAPER, "edge": INK, "line": 1.6}, "", "leads to success"),
        ({"fill": tint(GREEN, 0.16), "edge": GREEN, "line": 1.0}, "", "completed"),
        (None, SIGNS[HOLDS], "holds"),
        (None, SIGNS[FAILS], "fails"),
        (None, STAR, "success"),
        (None, FLAG, "milestone"),
        (None, DANGER, "failure"),
    ]
    colors = {SIGNS[stands]: color for stands, color in STANDS.items()} | {STAR: ORANGE, FLAG: GREEN, DANGER: ALARM}
    x, y = 0.0, 5.0
    for look, sign, name in marks:
        width = 10 + text_width(name, TINY)
        if x + width > canvas.width:
            x, y = 0.0, y + 10
        if look:
            canvas.box(x, y - 3, **({"width": 7, "height": 6} | look))
        else:
            canvas.text(x, y, sign, size=SMALL, color=colors[sign])
        canvas.text(x + 10, y, name, size=TINY, color=MUTED)
        x += width + 9
