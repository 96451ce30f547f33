"""Where the parts of a crisis are drawn: needed facts at the left, routes, and their consequences at the right."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from jaxenv.envs.lifestack.view.snapshot import Crisis

ROUNDS = 8  # of swapping routes
FACT_PITCH, ROUTE_PITCH = 24.0, 92.0  # points, maxima
FACT, ROUTE = 16.0, 48.0  # points, maximum heights
NEEDS, ROUTES, WRITES = 0.26, 0.32, 0.25  # shares of the width


class Node(NamedTuple):
    """A box of the graph."""

    kind: str  # "fact", "bound", "write" or "route"
    slot: int  # of the key, bound or route
    value: str = ""  # the value that is written


Edge = tuple[Node, int]  # of a node and a route


class Box(NamedTuple):
    """Where a node is drawn: left, middle, width and height in points."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Its right side."""
        return self.x + self.width

    @property
    def top(self) -> float:
        """Its upper side."""
        return self.y - self.height / 2

    @property
    def frame(self) -> tuple[float, float, float, float]:
        """Left, top, width and height."""
        return self.x, self.top, self.width, self.height


class Layout(NamedTuple):
    """The order of each column from the top, the same for every state of an episode."""

    needs: tuple[Node, ...]
    routes: tuple[Node, ...]
    writes: tuple[Node, ...]
    routes_of: Mapping[Node, tuple[int, ...]]  # the slots of the routes that a node is connected to


def layout_of(crisis: Crisis) -> Layout:
    """An order with few crossings: routes are swapped while that helps, and facts are placed beside their routes."""
    needed, written = _edges(crisis)
    routes = list(range(len(crisis.routes)))
    best = _crossings(routes, needed, written)
    for _ in range(ROUNDS):
        before = best
        for a, b in itertools.combinations(range(len(routes)), 2):
            swapped = list(routes)
            swapped[a], swapped[b] = routes[b], routes[a]
            if (crossings := _crossings(swapped, needed, written)) < best:
                routes, best = swapped, crossings
        if best == before:
            break
    place = {route: n for n, route in enumerate(routes)}
    related = {node.slot for node, _ in (*needed, *written) if node.kind != "bound"}
    others = [Node("fact", key) for key in range(len(crisis.facts)) if key not in related]
    return Layout(
        needs=(*_sorted(needed, place), *others),
        routes=tuple(Node("route", number) for number in routes),
        writes=tuple(_sorted(written, place)),
        routes_of=_grouped((*needed, *written)),
    )


def boxes(layout: Layout, width: float, height: float) -> dict[Node, Box]:
    """Where everything is drawn on a canvas; nothing overlaps."""
    pitch = min(ROUTE_PITCH, height / max(len(layout.routes), 1))
    top = min(pitch / 4, (height - pitch * len(layout.routes)) / 2)
    between = 1 - WRITES - NEEDS - ROUTES
    left, share = (NEEDS + between / 2, ROUTES) if layout.needs else (0.0, 1.4 * ROUTES)
    placed = {
        node: Box(left * width, top + (n + 0.5) * pitch, share * width, min(ROUTE, pitch - 5))
        for n, node in enumerate(layout.routes)
    }

    def preferred(node: Node) -> float | None:
        middles = [placed[Node("route", route)].y for route in layout.routes_of.get(node, ())]
        return _mean(middles) if middles else None

    for nodes, x, share in ((layout.needs, 0.0, NEEDS), (layout.writes, 1 - WRITES, WRITES)):
        middles = spread([preferred(node) for node in nodes], height, FACT_PITCH)
        size = max(min([FACT, *(b - a - 3 for a, b in itertools.pairwise(middles))]), 1.0)
        placed |= {node: Box(x * width, y, share * width, size) for node, y in zip(nodes, middles, strict=True)}
    return placed


def spread(preferred: Sequence[float | None], height: float, pitch: float) -> list[float]:
    """Middles in the given order, near the preferred ones, `pitch` apart and between 0 and `height`.

    Args:
        preferred: points, from the top; None for right below the one before.
        height: points.
        pitch: points, made less if there is not enough room.
    """
    pitch = min(pitch, height / max(len(preferred), 1))
    room = height - pitch * len(preferred)
    groups: list[list[float]] = []  # of nodes that touch: where each wants the first one to be
    for n, middle in enumerate(preferred):
        groups.append([groups[-1][-1] if middle is None and groups else (middle or 0.0) - (n + 0.5) * pitch])
        while len(groups) > 1 and _mean(groups[-2]) >= _mean(groups[-1]):
            groups[-2:] = [groups[-2] + groups[-1]]
    first = [min(max(_mean(group), 0.0), room) for group in groups for _ in group]
    return [start + (n + 0.5) * pitch for n, start in enumerate(first)]


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)


def _edges(crisis: Crisis) -> tuple[list[Edge], list[Edge]]:
    """(needs of each route, writes of each route)."""
    needed, written = [], []
    for number, route in enumerate(crisis.routes):
        needed += [(Node(need.kind, need.slot), number) for need in route.needs]
        written += [(Node("write", write.key, write.value), number) for write in route.writes]
    return needed, written


def _grouped(edges: Iterable[Edge]) -> dict[Node, tuple[int, ...]]:
    """The routes of each node, in order of appearance."""
    routes: dict[Node, tuple[int, ...]] = {}
    for node, route in edges:
        routes[node] = (*routes.get(node, ()), route)
    return routes


def _sorted(edges: Iterable[Edge], place: Mapping[int, int]) -> list[Node]:
    """The nodes by the mean place of their routes; ties in order of appearance."""
    grouped = _grouped(edges)
    return sorted(grouped, key=lambda node: _mean([place[route] for route in grouped[node]]))


def _crossings(routes: Sequence[int], *columns: Sequence[Edge]) -> int:
    """How many pairs of edges cross."""
    place = {route: n for n, route in enumerate(routes)}
    crossed = 0
    for edges in columns:
        row = {node: n for n, node in enumerate(_sorted(edges, place))}
        ends = [(row[node], place[route]) for node, route in edges]
        crossed += sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in itertools.combinations(ends, 2))
    return crossed
