"""Writes docs/badges/: the badges of README for Python, JAX and the licence, from pyproject.toml."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
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
    """Writes the badges."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in badges().items():
        (FOLDER / name).write_text(text, "utf-8")
