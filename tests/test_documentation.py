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
    on_demand = getattr(module, "_ADAPTERS", {})
    assert all(f".{name}\n" in text for name in on_demand)
    public = [getattr(module, name) for name in dir(module) if not name.startswith("_") and name not in on_demand]
    written = [value for value in public if is_ours(value)]
    assert written
    for value in written:
        assert f"::: {value.__module__}.{value.__qualname__}" in text
        assert inspect.getdoc(value)


def is_ours(value):
    """Whether it is a class or function of this project."""
    is_code = inspect.isclass(value) or inspect.isfunction(value)
    return is_code and value.__module__.startswith(("jaxenv", "scenarios", "train")) and "<" not in value.__qualname__


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8")
    for pattern in pages.PAGES:
        for page in ROOT.glob(pattern):
            assert page.relative_to(ROOT).as_posix() in navigation
    assert all(f"docs/api/{name}.md" in navigation for name in pages.REFERENCE)
