"""Writes what pyproject.toml and constraints.txt say of the package: docs/licences.md and docs/badges/.

The page has the licence of every release in constraints.txt, from its installed metadata; the badges of README are
those of Python, JAX and the licence.
"""

import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "licences.md"
USERS = ("", "scenarios", "train", "viz")
"""The packages that people install, each with its further dependencies; the empty name is jaxenv alone."""
LONGEST = 60  # characters of a licence's name; longer text is the licence itself

HEAD = """\
# Licences

jaxenv is under the [Apache License 2.0](../LICENSE). Its wheel holds no code of other packages; pip fetches those that
it needs. This is the licence of each release in [constraints.txt](../constraints.txt), in the words of the package's
own metadata. What CUDA, TPU compilers and the extras `openenv`, `sb3` and `wandb` bring is not pinned there and
not listed. `make tables` writes this page.
"""
TITLES = {
    "": "Needed by `jaxenv`",
    "scenarios": "Also needed by `jaxenv[scenarios]`",
    "train": "Also needed by `jaxenv[train]`",
    "viz": "Also needed by `jaxenv[viz]`",
    None: "For development alone",
}
FOLDER = ROOT / "docs" / "badges"
GREY, BLUE = "#555", "#3f51b5"
CHARACTER, MARGIN, HEIGHT = 6.6, 7, 20  # pixels, of text of 11 pixels

SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" aria-label="{left}: {right}">
<title>{left}: {right}</title>
<clipPath id="r"><rect width="{width}" height="{height}" rx="3"/></clipPath>
<g clip-path="url(#r)"><rect width="{split}" height="{height}" fill="{grey}"/>
<rect x="{split}" width="{rest}" height="{height}" fill="{blue}"/></g>
<g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">
<text x="{left_at}" y="14" textLength="{left_length}">{left}</text>
<text x="{right_at}" y="14" textLength="{right_length}">{right}</text></g>
</svg>
"""


def page() -> str:
    """The page; every release in constraints.txt must be installed."""
    sections = []
    for user, packages in by_user(pins()).items():
        table = "\n".join(row(name, version) for name, version in packages.items())
        sections.append(f"## {TITLES[user]}\n\n| package | version | licence |\n|---|---|---|\n{table}\n")
    return "\n".join([HEAD, *sections])


def pins() -> dict[str, str]:
    """Name -> version of the releases in constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


def row(name: str, version: str) -> str:
    """That of a package in the table."""
    return f"| {name} | {version} | {licence(name)} |"


def licence(name: str) -> str:
    """The licence of an installed package: its expression, else its name, else its classifiers."""
    found: Any = metadata.metadata(name)
    for field in ("License-Expression", "License"):
        text = found.get(field, "")
        if text and len(text) <= LONGEST and text != "UNKNOWN":
            return text
    prefix = "License :: "
    classes = [text.rpartition(" :: ")[-1] for text in found.get_all("Classifier", []) if text.startswith(prefix)]
    if not classes:
        raise ValueError(f"{name} {found['Version']}: its metadata name no licence")
    return ", ".join(classes)


def by_user(packages: dict[str, str]) -> dict[str | None, dict[str, str]]:
    """The installed package, None for development -> the packages that it adds."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = {"": project["dependencies"], **project["optional-dependencies"]}
    rest, found = dict(packages), {}
    for user in USERS:
        names = closure(requirement for requirement in wanted[user] if not requirement.startswith("jaxenv"))
        found[user] = {name: rest.pop(name) for name in list(rest) if canonicalize_name(name) in names}
    return {**found, None: rest}


def closure(requirements) -> set[str]:
    """The canonical names of packages, and of those that they need in turn."""
    found: set[str] = set()
    asked: set[tuple[str, str]] = set()
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        found.add(name)
        for extra in {"", *requirement.extras}:
            if (name, extra) not in asked:
                asked.add((name, extra))
                needed = [Requirement(text) for text in metadata.requires(name) or []]
                waiting += [each for each in needed if each.marker is None or each.marker.evaluate({"extra": extra})]
    return found


def badges() -> dict[str, str]:
    """File name -> the badge."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (jax,) = (each for each in project["dependencies"] if each.startswith("jax>"))
    facts = {
        "python": project["requires-python"].replace(">=", "≥ "),
        "jax": jax.removeprefix("jax").replace(">=", "≥ "),
        "licence": project["license"],
    }
    return {f"{name}.svg": badge(name, text) for name, text in facts.items()}


def badge(left: str, right: str) -> str:
    """Two words side by side, as SVG."""
    lengths = [round(len(text) * CHARACTER) for text in (left, right)]
    split, rest = (length + 2 * MARGIN for length in lengths)
    return SVG.format(
        left=left,
        right=right,
        left_length=lengths[0],
        right_length=lengths[1],
        left_at=split / 2,
        right_at=split + rest / 2,
        split=split,
        rest=rest,
        width=split + rest,
        height=HEIGHT,
        grey=GREY,
        blue=BLUE,
    )


def write() -> None:
    """Writes the page and the badges."""
    PAGE.write_text(page(), "utf-8")
    FOLDER.mkdir(exist_ok=True)
    for name, text in badges().items():
        (FOLDER / name).write_text(text, "utf-8")
