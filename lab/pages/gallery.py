"""Records the episodes of docs/gallery/ and writes them as small PNG pictures and animated GIFs: `make gallery`."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from PIL import Image

import jaxenv
import scenarios
from jaxenv import baselines, rendering
from jaxenv.host.names import require_one_of
from jaxenv.rendering import Episode, Picture

Maker = Callable[[Any, Any, Any], Any]
"""(env, params, library) -> policy."""

FOLDER = Path(__file__).parents[2] / "docs" / "gallery"
STILL_DPI, MOVING_DPI = 100, 72
PALETTE: dict[str, Any] = {"colors": 128, "method": Image.Quantize.MAXCOVERAGE, "dither": Image.Dither.NONE}
FRAME_MS, LAST_FRAME_MS = 1400, 4000


def played(id: str, scenario: str, policy: Maker, *, seed: int = 0, **env_args: Any) -> Episode:
    """An episode of a scenario of the library, by the policy that `policy` makes of (env, params, library)."""
    env, params = jaxenv.make(id, **env_args)
    library = scenarios.load(env.family)
    params = params.replace(bank=library.bank)
    act = policy(env, params, library)
    return rendering.record(env, params, act, jax.random.key(seed), library.index(scenario), names=library)


def trained(env: Any, params: Any, library: Any) -> Any:
    """The policy that comes with the package."""
    return jaxenv.load_policy(env, params, any_params=True)


def rule(name: str) -> Maker:
    """A rule-based policy."""
    return lambda env, params, library: baselines.for_environment(env)[name]


class Script(NamedTuple):
    """A policy that plays actions one after the other."""

    actions: tuple[int, ...]

    def initial_carry(self) -> int:
        """The number of the first action."""
        return 0

    def act(self, key: Any, observation: Any, params: Any, carry: int) -> tuple[Any, int]:
        """The next action."""
        return jnp.asarray(self.actions, jnp.int32)[carry], carry + 1


def discharge(env: Any, params: Any, library: Any) -> Script:
    """The worked episode of LifeStack's tutorial."""
    codec = scenarios.Codec(env, params, library)
    _, state = env.reset(jax.random.key(0), params, library.index("hospital_discharge"))
    verbs = {
        "assessment": ("communicate", "plan"),
        "covered_care": ("inspect",),
        "book_clinic": ("communicate", "negotiate"),
        "claim_clinic": ("communicate", "execute"),
        "discharge": ("reschedule", "execute"),
    }
    words = [{"action_type": verb, "target": target} for target, each in verbs.items() for verb in each]
    return Script(tuple(int(codec.encode(state, action)) for action in words))


def attentive(env: Any, params: Any, library: Any) -> Any:
    """The policy of TeamsClone's tutorial: answers whoever waits, else goes where most is unread, else waits."""

    @jax.jit
    def act(key: Any, observation: Any, params: Any) -> jax.Array:
        waits = jnp.any(observation.messages.mentions_me & observation.messages.pending)
        elsewhere = jnp.where(jnp.max(observation.unread) >= 2, 14 + jnp.argmax(observation.unread), 110)
        return jnp.where(waits, 1, elsewhere)

    return act


def still(picture: Picture, path: Path) -> None:
    """A picture as PNG with a palette."""
    Image.fromarray(picture.pixels(STILL_DPI)).quantize(**PALETTE).save(path, optimize=True)


def moving(pictures: Sequence[Picture], path: Path) -> None:
    """Pictures as a GIF that repeats, in one palette."""
    frames = [picture.pixels(MOVING_DPI) for picture in pictures]
    palette = Image.fromarray(np.concatenate(frames)).quantize(**PALETTE)
    first, *rest = [Image.fromarray(frame).quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    durations = [*([FRAME_MS] * len(rest)), LAST_FRAME_MS]
    first.save(path, save_all=True, append_images=rest, duration=durations, loop=0, optimize=True)


SHOTS: Mapping[str, Callable[[], Any]] = {
    "lifeops_day.png": lambda: played("LifeOps-Shaped-v0", "s4_parent_pickup", trained).overview(),
    "lifeops_deadline.gif": lambda: played("LifeOps-Shaped-v0", "edge_deadline_1", trained),
    "lifeops_rule.png": lambda: played("LifeOps-v0", "edge_cascade_1", rule("Careful")).overview(),
    "lifestack_crisis.png": lambda: played("LifeStack-v0", "hospital_discharge", discharge, seed=1).overview(),
    "lifestack_visa.gif": lambda: played("LifeStack-v0", "visa_permit", trained),
    "lifestack_lost.png": lambda: played("LifeStack-v0", "wedding_flood", rule("Greedy"))[-1],
    "teamsclone_workspace.png": lambda: played("TeamsClone-v0", "general", attentive, seed=1).overview(),
    "teamsclone_tea_shop.gif": lambda: played("TeamsClone-v0", "tea_shop", rule("Rule-based"))[20:42],
    "teamsclone_two_agents.png": lambda: played(
        "TeamsClone-MultiAgent-v0", "newsroom", rule("Rule-based"), num_agents=2
    )[44],
    "week_exam.png": lambda: played("Week-Notes-v0", "exam_week", rule("Rule-based")).overview(),
    "week_wedding.gif": lambda: played("Week-v0", "wedding", rule("Rule-based"))[40:81:2],
}
"""File name -> the picture, or the pictures of a GIF."""


def write(name: str, folder: Path) -> Path:
    """Writes one of the files."""
    path = folder / name
    (moving if path.suffix == ".gif" else still)(SHOTS[name](), path)
    return path


def main(argv: Sequence[str]) -> int:
    """Writes the files that are named, all by default."""
    parser = argparse.ArgumentParser("python -m lab gallery", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SHOTS)}")
    parser.add_argument("--out", type=Path, default=FOLDER, help="the folder (default: docs/gallery)")
    given = parser.parse_args(argv)
    for name in given.names:
        require_one_of(name, SHOTS, f"no file {name!r} in the gallery")
    given.out.mkdir(exist_ok=True)
    for name in given.names or SHOTS:
        print(f"{write(name, given.out).stat().st_size / 1000:6.0f} kB  {name}", flush=True)
    return 0
