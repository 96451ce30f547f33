"""Checks of arguments of the adapters for programs on the host: compiled code cannot raise."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxenv.core import Environment
from jaxenv.host.names import did_you_mean_one_of

RENDER_MODES = ("rgb_array", "ansi")


def check_num_envs(num_envs: int, adapter: str) -> None:
    """Rejects an empty batch."""
    if num_envs < 1:
        raise ValueError(f"{adapter}(num_envs={num_envs}): expected at least 1")


def check_render_mode(render_mode: str | None, adapter: str) -> None:
    """Rejects a render mode that `render` does not know."""
    if render_mode is not None and render_mode not in RENDER_MODES:
        hint = did_you_mean_one_of(render_mode, RENDER_MODES)
        raise ValueError(f"{adapter}(render_mode={render_mode!r}): no such mode.{hint}")


def check_actions(actions: Any, env: Environment, shape: tuple[int, ...] = ()) -> np.ndarray:
    """The actions as int32 of `shape`.

    Raises:
        ValueError: for another shape, or numbers outside the catalogue.
    """
    actions = np.asarray(actions)
    if actions.shape != shape or actions.dtype.kind not in "iu":
        raise ValueError(
            f"actions of {env.name}: expected integers of shape {shape}, got {actions.dtype} of shape {actions.shape}"
        )
    if actions.min() < 0 or actions.max() >= env.num_actions:
        wrong = actions[(actions < 0) | (actions >= env.num_actions)].flat[0]
        raise ValueError(f"actions of {env.name}: expected 0 to {env.num_actions - 1}, got {wrong}")
    return actions.astype(np.int32)


def check_scenario(options: Mapping[str, Any] | None, params: Any, shape: tuple[int, ...] = ()) -> np.ndarray | None:
    """The option `scenario`, an index of the bank (or one for each episode), as int32 of `shape`; None if not given.

    Raises:
        ValueError: for another option, or an index that the bank does not have.
    """
    for name in options or {}:
        if name != "scenario":
            raise ValueError(f"reset(options=...): unknown option {name!r}.{did_you_mean_one_of(name, ['scenario'])}")
    given = (options or {}).get("scenario")
    if given is None:
        return None
    scenario, size = np.asarray(given), params.bank.size
    if scenario.dtype.kind not in "iu" or scenario.shape not in ((), shape):
        raise ValueError(f"reset(options=...): scenario is an index of the bank, 0 to {size - 1}, got {given!r}")
    if scenario.min() < 0 or scenario.max() >= size:
        raise ValueError(f"reset(options=...): the bank has scenarios 0 to {size - 1}, got {given!r}")
    return np.broadcast_to(scenario, shape).astype(np.int32)
