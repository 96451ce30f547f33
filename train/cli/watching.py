"""`jaxenv watch`: episodes of a policy in the terminal, step by step."""

import contextlib
import os
import select
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator

import jax
from rich.console import Console, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from jaxenv import rendering
from jaxenv.host.names import printable
from jaxenv.rendering.text import signed
from train.cli import comparison, policies

STYLES = {r"(?m)^\S.*$": "bold", r"\+\d[\d.]*": "green", r"−\d[\d.]*": "red"}  # of headings and signed numbers

Pressed = Callable[[float | None], str]
"""(seconds, None for no limit) -> the key that is pressed within them, or nothing."""


def watch(
    which: policies.Chosen,
    scenarios: str | None = None,
    scenario: str | None = None,
    episodes: int = 1,
    fps: float = 1.0,
    seed: int = 0,
    agent: int = 0,
) -> None:
    """Play episodes of the policy of a run in the terminal, step by step.

    Space pauses and goes on, n shows the next step and pauses, q ends it; the last picture stays. Where the output is
    not a terminal, the steps are printed one after the other.

    Args:
        which: The policy.
        scenarios: A file or folder of scenarios; default: the environment's library.
        scenario: The id of the one to play; default: each in turn.
        episodes: Episodes to play.
        fps: Steps per second.
        seed: Random seed of episodes and actions.
        agent: The agent whose view is shown, if there are several.
    """
    if not fps > 0:
        raise ValueError(f"--fps {fps}: expected a number above 0")
    policy, made, params, _ = policies.read(which)
    if not any(kind in rendering.VIEWS for kind in type(made.unwrapped).__mro__):
        raise ValueError(f"{made.name} cannot be shown: jaxenv.rendering.VIEWS has no view of it")
    if agent >= made.num_agents:
        raise ValueError(f"--agent {agent}: {made.name} has {made.num_agents}, numbered from 0")
    library, chosen = comparison.library_of(made, scenarios), None
    if library is not None:
        params = params.replace(bank=library.bank)
        chosen = None if scenario is None else library.index(scenario)
    elif scenario is not None:
        raise ValueError(f"--scenario {scenario}: {made.name} has no documents, whose ids they are")
    console = Console(highlight=False, soft_wrap=True)
    console.print("compiling …")
    with _keys() as pressed:
        clock = Clock(pressed, 1 / fps)
        for number, key in enumerate(jax.random.split(jax.random.key(seed), episodes)):
            index = number % params.bank.size if chosen is None and hasattr(params, "bank") else chosen
            episode = rendering.record(made, params, policy, key, index, names=library, agent=agent)
            is_wanted = _show(console, made.name, episode, clock)
            name = f"episode {number}" if library is None or index is None else library.ids[index]
            console.print(f"{name}: {len(episode.steps)} steps, return {signed(episode.total)}", markup=False)
            if not is_wanted:
                break


class Clock:
    """Says when the next picture comes: after some seconds, or by a key."""

    def __init__(self, pressed: Pressed, seconds: float) -> None:
        """Runs, and is not paused."""
        self._pressed, self._seconds, self._is_paused = pressed, seconds, False

    def wait(self) -> bool:
        """Waits for the next picture; False if none is wanted."""
        while True:
            key = self._pressed(None if self._is_paused else self._seconds)
            if key == " ":
                self._is_paused = not self._is_paused
            elif key in ("", "n", "q"):
                self._is_paused = self._is_paused or key == "n"
                return key != "q"


@contextlib.contextmanager
def _keys() -> Iterator[Pressed]:
    """The keys of the terminal, as they are pressed; none where the input is something else."""
    if not sys.stdin.isatty():
        yield lambda seconds: time.sleep(seconds or 0.0) or ""
        return
    before = termios.tcgetattr(0)
    try:
        tty.setcbreak(0)
        yield lambda seconds: os.read(0, 1).decode("ascii", "replace") if select.select([0], [], [], seconds)[0] else ""
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)


def _show(console: Console, name: str, episode: rendering.Episode, clock: Clock) -> bool:
    """Shows each picture where the one before was, or below it where that is not possible; False if it was ended."""
    if not console.is_terminal:
        for picture in episode:
            console.print(f"{printable(str(picture))}\n", markup=False)
        return True
    is_wanted = True
    with Live(console=console, screen=True, auto_refresh=False) as live:
        for frame in _frames(name, episode):
            live.update(frame, refresh=True)
            is_wanted = clock.wait()
            if not is_wanted:
                break
    console.print(live.get_renderable())  # which leaves with the screen
    return is_wanted


def _frames(name: str, episode: rendering.Episode) -> Iterator[RenderableType]:
    """Each picture in a frame, with reward and return under it."""
    for number, picture in enumerate(episode):
        heading, *lines = printable(str(picture)).splitlines()
        body, below = Text("\n".join(lines)), Text("the start")
        for pattern, style in STYLES.items():
            body.highlight_regex(pattern, style)
        if number:
            step = episode.steps[number - 1]
            color = "red" if step.reward < 0 else "green"
            body.stylize(f"bold {color}", 0, len(lines[0]))
            below = Text(f"reward {signed(step.reward)}   return {signed(step.total)}")
        yield Panel(body, title=Text(f"{name} · {heading}"), subtitle=below)
