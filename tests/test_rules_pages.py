"""The pages of the rules: citations find their sections, and the pages speak of this project, its files and figures."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = {path.stem: path.read_text("utf-8") for path in (ROOT / "docs" / "rules").glob("*.md")}
ENVIRONMENTS = ("lifeops", "lifestack", "teamsclone", "week")

# The path of a page; after it may stand ", section 5" or ", sections 3, 4 and 5"
CITATION = re.compile(r"docs/rules/(\w+)\.md(?:,\s+sections?\s+(\d+(?:(?:,| and| to)\s+\d+)*))?")
FORBIDDEN = ("seeds/", "shared/", "traces/", "rules page", "*ours*", "the seed", "workplace", "your note", "design.md")


def citations():
    """(file, page, section) of every Python file; the section is None where a page is cited as a whole."""
    for folder in ("jaxenv", "scenarios", "train", "lab", "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for page, sections in CITATION.findall(path.read_text("utf-8")):
                for number in re.findall(r"\d+", sections) or [None]:
                    yield path.relative_to(ROOT), page, number


def sections_of(page):
    """The numbers of a page's sections, in their order."""
    return re.findall(r"^## (\d+)\. \S", PAGES[page], re.MULTILINE)


def figures_of(page, row):
    """Name -> numbers of the rows of a table; `row` matches the name and, as a second group, the cells."""
    rows = re.findall(row, PAGES[page], re.MULTILINE)
    return {name: [float(cell.replace("−", "-")) for cell in cells.split("|") if cell.strip()] for name, cells in rows}


@pytest.mark.parametrize("page", ENVIRONMENTS)
def test_a_page_has_numbered_sections(page):
    found = sections_of(page)
    assert len(found) >= 8
    assert found == [str(number) for number in range(1, len(found) + 1)]


def test_every_citation_finds_its_section():
    found = [each for each in citations() if each[1] in ENVIRONMENTS]
    assert len([number for *_, number in found if number]) >= 20
    assert {page for _, page, _ in found} == set(ENVIRONMENTS)
    for file, page, number in citations():
        assert page in PAGES, file
        assert number is None or number in sections_of(page), (file, page, number)


@pytest.mark.parametrize("page", ENVIRONMENTS)
def test_a_page_speaks_of_this_project_alone(page):
    assert [word for word in FORBIDDEN if word in PAGES[page].lower()] == []


@pytest.mark.parametrize("page", ENVIRONMENTS)
def test_a_page_names_files_that_exist(page):
    named = re.findall(r"`((?:jaxenv|scenarios|lab|tests|docs)/[\w./*]+|[A-Z]+\.md)`", PAGES[page])
    assert named
    assert [name for name in named if not list(ROOT.glob(name))] == []


def test_the_returns_on_the_pages_are_those_of_the_library():
    known = json.loads((ROOT / "scenarios" / "library" / "returns.json").read_text("utf-8"))
    classic, shaped, crises = (known[id] for id in ("LifeOps-v0", "LifeOps-Shaped-v0", "LifeStack-v0"))
    columns = ("random", "heuristic", "best", "worst")
    expected = {day: [rules[day][name] for rules in (classic, shaped) for name in columns] for day in classic}
    assert figures_of("lifeops", r"^\| (\w+) \|((?: [−\d.]+ \|){8})$") == expected
    columns = ("best", "random", "random_win", "greedy", "greedy_win", "blind")
    expected = {task: [row[name] for name in columns if name in row] for task, row in crises.items()}
    assert figures_of("lifestack", r"^\| (\w+) \| (?:easy|hard) \|((?: [−\d.]* \|){6})$") == expected
    columns = ("random", "rule_based", "best", "upper", "upper_error")
    expected = {id: [row[name] for name in columns] for id, row in known["TeamsClone-v0"].items()}
    assert figures_of("teamsclone", r"^\| (\w+) \|((?: [−\d.]+ \|){5})$") == expected
    expected = {
        id: [row["random"], row["rule_based"], known["Week-Notes-v0"][id]["rule_based"], row["best"]]
        for id, row in known["Week-v0"].items()
    }
    found = figures_of("week", r"^\| (\w+) \| [\d.]+ \|((?: [−\d.]+ \|){4})$")
    assert {id: pytest.approx(row, abs=0.005) for id, row in expected.items()} == found
