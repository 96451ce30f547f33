"""The documentation site: every public name has its place in the reference, and every page its place in the site."""

import dataclasses
import importlib
import inspect
import re
from pathlib import Path

import pytest

from train.cli.main import main
from train.settings import config, groups

ROOT = Path(__file__).parents[1]
pytest.importorskip("mkdocs", reason="the extra `docs` is not installed")
pytest.importorskip("nbconvert", reason="the extra `docs` is not installed")
griffe = pytest.importorskip("griffe")
pages = importlib.import_module("lab.pages.pages")


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
    assert all(f"notebooks/{path.stem}.md" in navigation for path in ROOT.glob(pages.NOTEBOOKS))


# ------------------------------------------------------------------------------------------------- length


@pytest.mark.parametrize(("page", "most"), {"README.md": 140, "BENCHMARKS.md": 150, "CHANGELOG.md": 80}.items())
def test_a_page_that_a_stranger_reads_first_is_short(page, most):
    assert len((ROOT / page).read_text("utf-8").splitlines()) <= most


def test_no_paragraph_of_the_readme_has_more_than_sixty_words():
    prose = re.sub(r"^```.*?^```$", "", (ROOT / "README.md").read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    paragraphs = re.split(r"\n\s*\n|\n(?=\s*(?:[-*|]|\d+\.) )", prose)
    assert [words for words in map(str.split, paragraphs) if len(words) > 60] == []


def test_the_pictures_of_the_readme_are_there():
    text = (ROOT / "README.md").read_text("utf-8")
    pictures = re.findall(r'<img src="([^"]+)"|!\[[^]]*\]\(([^)]+)\)', text)
    assert len(pictures) > 4
    assert all((ROOT / (tag or link)).is_file() for tag, link in pictures)


# ------------------------------------------------------------------------------------------------ fields


@pytest.fixture(scope="module")
def read():
    """(class) -> name of a field that it declares -> what the site says of it, as the site reads the packages."""
    assert "lab/pages/fields.py" in (ROOT / "mkdocs.yml").read_text("utf-8")
    extensions = griffe.load_extensions(ROOT / "lab" / "pages" / "fields.py")
    packages = {
        name: griffe.load(name, search_paths=[ROOT], extensions=extensions) for name in ("jaxenv", "scenarios", "train")
    }

    def fields_of(cls):
        package, *path = f"{cls.__module__}.{cls.__qualname__}".split(".")
        found = packages[package][".".join(path)]
        own = inspect.get_annotations(cls)
        names = [each.name for each in dataclasses.fields(cls) if each.name in own and not each.name.startswith("_")]
        return {name: found.members[name].docstring and found.members[name].docstring.value for name in names}

    return fields_of


@pytest.mark.parametrize("module_name", pages.REFERENCE.values())
def test_every_field_of_a_record_is_explained(module_name, read):
    """By a comment in its class, or in the docstring of that."""
    module = importlib.import_module(module_name)
    names = [name for name in dir(module) if not name.startswith("_") and name not in getattr(module, "_ADAPTERS", {})]
    public = [getattr(module, name) for name in names]
    for cls in (each for each in public if is_ours(each) and dataclasses.is_dataclass(each)):
        for name, said in read(cls).items():
            assert said or f"    {name}: " in cls.__doc__, f"{cls.__qualname__}.{name}"


def test_a_field_is_what_its_comment_says(read):
    import train

    assert read(train.Evaluation)["lengths"] == "[S, R] int32, steps"
    assert read(train.Hyper)["gamma"] == "discount per step"
    settings = read(train.Config)
    assert settings["env_args"] == settings["params"]  # the comment above both
    assert settings["params"].endswith("see `train.settings.task`.")
    assert settings["seed"] == "random seed"
    assert settings["hyper"] == inspect.getdoc(train.Hyper).partition("\n\n")[0]


def test_help_says_of_a_setting_what_the_reference_says(read, capsys):
    assert main(["ppo", "--help"]) == 0
    told = plain(capsys.readouterr().out)
    settings = [config.Config, groups.Rollout, groups.Hyper, groups.Network]
    settings += [groups.QLearning, groups.Scenarios, groups.Curriculum]
    for cls in settings:
        hidden = {name for name, kind in cls.__annotations__.items() if "Suppress" in str(kind)}
        for name, said in read(cls).items():
            assert name in hidden or plain(said) in told, f"{cls.__qualname__}.{name}"


def plain(text):
    """Without the frames, lines and marks of a terminal or a page."""
    return re.sub(r"[^\w.,;:()]", "", text)
