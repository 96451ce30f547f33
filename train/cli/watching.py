"""`jaxenv watch`: episodes of a policy in the terminal, step by step."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
from rich.console import Console, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.text import Text
from tyro.conf import Positional

from jaxenv import rendering
from jaxenv.host.names import did_you_mean
from jaxenv.rendering.text import signed
from train.cli import comparison, policies


def watch(
    run_dir: Positional[Path],
    env: str | None = None,
    network: str | None = None,
    scenarios: str | None = None,
    scenario: str | None = None,
    best: bool = False,
    greedy: bool = True,
    episodes: int = 1,
    fps: float = 1.0,
    seed: int = 0,
    agent: int = 0,
) -> None:
    """Play episodes of the policy of a run in the terminal, step by step.

    Where the output is not a terminal, the steps are printed one after the other.

    Args:
        run_dir: The folder of a run, or its policy file.
        env: MODULE:FACTORY of an environment of your own that it was trained in.
        network: MODULE:FACTORY of a network of your own that it was trained with.
        scenarios: A file or folder of scenarios; default: the environment's library.
        scenario: The id of the one to play; default: each in turn.
        best: Play the policy that had the best validation return, not the last one.
        greedy: Take the most probable action instead of sampling one.
        episodes: Episodes to play.
        fps: Steps per second.
        seed: Random seed of episodes and actions.
        agent: The agent whose view is shown, if there are several.
    """
    if not fps > 0:
        raise ValueError(f"--fps {fps}: expected a number above 0")
    policy, made, params, _ = policies.read(run_dir, env, network, best=best, greedy=greedy)
    if not any(kind in rendering.VIEWS for kind in type(made.unwrapped).__mro__):
        raise ValueError(f"{made.name} cannot be shown: jaxenv.rendering.VIEWS has no view of it")
    if agent >= made.num_agents:
        raise ValueError(f"--agent {agent}: {made.name} has {made.num_agents}, numbered from 0")
    library = comparison.library_for(made, scenarios)
    comparison.tell_warnings(library, scenarios)
    if library is not None:
        params = params.replace(bank=library.bank)
    chosen = _index(scenario, library)
    console = Console(highlight=False, soft_wrap=True)
    console.print("compiling …")
    for number, key in enumerate(jax.random.split(jax.random.key(seed), episodes)):
        index = number % params.bank.size if chosen is None else chosen
        episode = rendering.record(made, params, policy, key, index, names=library, agent=agent)
        _show(console, made.name, episode, fps)
        name = f"scenario {index}" if library is None else library.ids[index]
        console.print(f"{name}: {len(episode.steps)} steps, return {signed(episode.total)}", markup=False)


def _index(scenario: str | None, library: Any) -> int | None:
    """The place of a scenario in the library, or None for no id.

    Raises:
        ValueError: for an id that is not there.
    """
    if scenario is None:
        return None
    ids = () if library is None else library.ids
    if scenario not in ids:
        raise ValueError(f"no scenario {scenario!r}.{did_you_mean(scenario, ids)}")
    return ids.index(scenario)


def _show(console: Console, name: str, episode: rendering.Episode, fps: float) -> None:
    """Shows each picture where the one before was, or below it where that is not possible."""
    if not console.is_terminal:
        for picture in episode:
            console.print(f"{_printable(str(picture))}\n", markup=False)
        return
    with Live(console=console, screen=True, auto_refresh=False) as live:
        for frame in _frames(name, episode):
            live.update(frame, refresh=True)
            time.sleep(1 / fps)


def _frames(name: str, episode: rendering.Episode) -> Iterator[RenderableType]:
    """Each picture in a frame, with reward and return under it."""
    for number, picture in enumerate(episode):
        heading, *lines = _printable(str(picture)).splitlines()
        body, below = Text("\n".join(lines)), Text("the start")
        if number:
            step = episode.steps[number - 1]
            color = "red" if step.reward < 0 else "green"
            body.stylize(f"bold {color}", 0, len(lines[0]))
            below = Text(f"reward {signed(step.reward)}   return {signed(step.total)}")
        yield Panel(body, title=Text(f"{name} · {heading}"), subtitle=below)


def _printable(text: str) -> str:
    """The text without characters that would steer the terminal."""
    return "".join(sign if sign.isprintable() or sign == "\n" else "\ufffd" for sign in text)
