"""The documentation site: every public name has its place in the reference, and every page its place in the site."""

import importlib.util
import inspect
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytest.importorskip("mkdocs", reason="the extra `docs` is not installed")
spec = importlib.util.spec_from_file_location("pages", ROOT / "docs" / "pages.py")
pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pages)


@pytest.mark.parametrize("module_name", pages.REFERENCE.values())
def test_the_reference_has_every_class_and_function_of_a_module(module_name):
    module = importlib.import_module(module_name)
    text = pages.reference(module_name)
    written = [
        value for name in dir(module) if not name.startswith("_") and pages.written_at(value := getattr(module, name))
    ]
    assert written
    for value in written:
        assert f"::: {value.__module__}.{value.__qualname__}" in text
        assert inspect.getdoc(value)


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8")
    for pattern in pages.PAGES:
        for page in ROOT.glob(pattern):
            assert page.relative_to(ROOT).as_posix() in navigation
    assert all(f"docs/api/{name}.md" in navigation for name in pages.REFERENCE)
