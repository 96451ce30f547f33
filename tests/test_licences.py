"""docs/licences.md and docs/badges/ say what constraints.txt, the installed packages and pyproject.toml say."""

import re
from importlib import metadata
from pathlib import Path

import pytest

from lab.pages import licences

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "licences.md"


PINS = licences.pins()
TABLE_ROW = re.compile(r"^\| (\S+) \| (\d\S*) \| (.+) \|$", re.MULTILINE)
ROWS = {name: (version, licence) for name, version, licence in TABLE_ROW.findall(PAGE.read_text("utf-8"))}


def is_installed(name):
    try:
        return metadata.version(name) == PINS[name]
    except metadata.PackageNotFoundError:
        return False


def test_the_page_lists_the_releases_that_are_pinned():
    assert len(PINS) > 100
    assert {name: version for name, (version, _) in ROWS.items()} == PINS


def test_the_page_has_the_licences_of_what_is_installed_here():
    """In the development environment that is all of them; another machine may lack some, or have other releases."""
    here = [name for name in PINS if is_installed(name)]
    assert {"jax", "numpy", "flax", "chex"} <= set(here) or not is_installed("jax")
    assert {name: ROWS[name][1] for name in here} == {name: licences.licence(name) for name in here}
    if len(here) == len(PINS):
        assert PAGE.read_text("utf-8") == licences.page()


def test_metadata_without_a_licence_are_an_error(monkeypatch):
    monkeypatch.setattr(licences.metadata, "metadata", lambda name: Nameless())
    with pytest.raises(ValueError, match=r"thing 1\.0: its metadata name no licence"):
        licences.licence("thing")


class Nameless(dict):
    """Metadata that say nothing of a licence."""

    def __init__(self):
        super().__init__(Version="1.0", License="UNKNOWN")

    def get_all(self, name, default=None):
        return default


def test_what_people_install_comes_before_what_developers_do():
    text = PAGE.read_text("utf-8")
    runtime, _, development = text.partition("## For development alone")
    for name in ("jax", "numpy", "flax", "chex", "pydantic", "optax", "tyro", "matplotlib"):
        assert f"| {name} |" in runtime
    for name in ("pytest", "ruff", "twine", "gymnax"):
        assert f"| {name} |" in development


def test_the_badges_are_those_of_pyproject():
    made = licences.badges()
    assert made == {path.name: path.read_text("utf-8") for path in licences.FOLDER.glob("*.svg")}
    readme = (ROOT / "README.md").read_text("utf-8")
    assert re.findall(r"docs/badges/([\w.]+)", readme) == list(made)
    for words, file in re.findall(r"\[!\[([^]]+)\]\(docs/badges/([\w.]+)\)", readme):
        assert words.replace(":", "").lower() in made[file].replace(":", "").lower()
