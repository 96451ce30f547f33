"""The documentation site as a browser gets it. `make docs` builds it and runs these tests on what it built."""

import importlib
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]
pytest.importorskip("mkdocs", reason="the extra `docs` is not installed")
pytest.importorskip("nbconvert", reason="the extra `docs` is not installed")
pages = importlib.import_module("lab.pages.pages")


class Tags(HTMLParser):
    """[name, attributes, text up to the next one] of each tag of a page."""

    def __init__(self, path):
        super().__init__()
        self.found = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        self.found.append([tag, dict(attributes), ""])

    def handle_data(self, data):
        if self.found:
            self.found[-1][2] += data


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site as `make docs` builds it, and its pages: place -> tags."""
    folder = Path(os.environ.get("SITE") or tmp_path_factory.mktemp("site"))
    if "SITE" not in os.environ:
        command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)]
        subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    return folder, {path.relative_to(folder).as_posix(): Tags(path).found for path in sorted(folder.rglob("*.html"))}


def test_everything_that_a_page_of_the_site_links_to_or_loads_is_there(site):
    folder, found = site
    for place, tags in found.items():
        assert [1 for tag, attributes, _ in tags if tag == "link" and attributes["rel"] == "stylesheet"]
        for tag, attributes, _ in tags:
            link = urlsplit(attributes.get("src") or attributes.get("href") or "")
            assert not link.netloc or tag in ("a", "meta"), f"{place} loads from another site: {link.geturl()}"
            if link.path and not link.scheme and not link.netloc:
                base = folder if link.path.startswith("/") else (folder / place).parent
                target = base / unquote(link.path).lstrip("/")
                assert (target / "index.html" if target.is_dir() else target).is_file(), f"{place}: {link.geturl()}"
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 15_000_000


def test_no_two_entries_of_the_navigation_have_one_name(site):
    tags = site[1]["404.html"]  # which has no table of contents beside it
    begin = next(n for n, (_, attributes, _) in enumerate(tags) if "md-nav--primary" in attributes.get("class", ""))
    labels = [text.strip() for _, attributes, text in tags[begin:] if attributes.get("class") == "md-ellipsis"]
    assert {"Home", "Results", "jaxenv"} <= set(labels)
    assert len(set(labels)) == len(labels)


def test_the_site_shows_the_pictures_and_players_of_notebooks(site):
    for path in ROOT.glob(pages.NOTEBOOKS):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        expected = 0
        for data in (output.get("data", {}) for cell in cells for output in cell.get("outputs", ())):
            drawn = "".join(data.get("text/html", ""))
            expected += len(re.findall("<(?:img|iframe) ", drawn)) or bool({"image/png", "image/svg+xml"} & set(data))
        tags = [tag for tag, _, _ in site[1][f"notebooks/{path.stem}/index.html"]]
        assert tags.count("img") + tags.count("iframe") == expected, path.stem


def test_the_examples_of_the_reference_are_code(site):
    reference = [tag for place, tags in site[1].items() if "/api/" in place for tag in tags]
    assert sum(attributes.get("class") == "gp" for _, attributes, _ in reference) > 200  # prompts
    assert not [text for tag, _, text in reference if tag == "blockquote" or (tag == "p" and ">>>" in text)]
