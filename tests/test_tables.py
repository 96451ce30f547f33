"""The tables of the documentation are those of the declarations; `make tables` writes them anew."""

import re

import pytest

import jaxenv
from lab.pages.tables import DOCS, ENGINES, TABLE, TRAINING, leaderboard_rows, rewritten


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=lambda path: path.stem)
def test_the_tables_of_a_page_are_those_of_the_declarations(path):
    text = path.read_text("utf-8")
    assert text == rewritten(text)


def test_every_environment_has_its_tables():
    found = {name for path in DOCS.rglob("*.md") for _, name, _ in TABLE.findall(path.read_text("utf-8"))}
    records = ("RewardWeights", "Scenario", "State", "Observation")
    of_engines = {f"{family}.{record}" for family in ENGINES for record in records}
    assert found == of_engines | {f"leaderboard.{row.env}" for row in leaderboard_rows()} | set(TRAINING)


def test_readme_says_how_many_actions_there_are_and_leads_to_the_card_of_each_environment():
    text = (DOCS.parent / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| \[`([\w-]+)`\]\((\S+)\) \| (\d+) \|", text, re.MULTILINE)
    assert {id: int(actions) for id, _, actions in rows} == {
        id: jaxenv.make(id)[0].num_actions for id in jaxenv.registered()
    }
    for id, card, _ in rows:
        title = (DOCS.parent / card).read_text("utf-8").partition("\n")[0]
        assert id.rpartition("-")[0] in title
