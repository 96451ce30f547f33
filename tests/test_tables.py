"""The tables of the documentation are those of the declarations; `make tables` writes them anew."""

import importlib
import re
from pathlib import Path

import pytest

import jaxenv
from jaxenv.core import fields, terms

DOCS = Path(__file__).parents[1] / "docs"
TABLE = re.compile(r"(<!-- table: ([\w.]+) -->\n\n).*?(\n\n<!-- end -->)", re.DOTALL)
ENGINES = {"lifeops": "LifeOps-v0", "lifestack": "LifeStack-v0", "teamsclone": "TeamsClone-Mentions-v0"}


def table(name):
    """That of a record, by `environment.Record`."""
    family, record = name.split(".")
    if record == "RewardWeights":
        return terms.table(importlib.import_module(f"jaxenv.envs.{family}.reward").RewardWeights)
    env, _ = jaxenv.make(ENGINES[family])
    return fields.table(
        getattr(importlib.import_module(f"jaxenv.envs.{family}.types"), record), env.sizes, fill=record == "Scenario"
    )


def rewritten(text):
    return TABLE.sub(lambda found: f"{found[1]}{table(found[2])}{found[3]}", text)


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=lambda path: path.stem)
def test_the_tables_of_a_page_are_those_of_the_declarations(path):
    text = path.read_text("utf-8")
    assert text == rewritten(text)


def test_every_environment_has_its_tables():
    found = {name for path in DOCS.rglob("*.md") for _, name, _ in TABLE.findall(path.read_text("utf-8"))}
    records = ("RewardWeights", "Scenario", "State", "Observation")
    assert found == {f"{family}.{record}" for family in ENGINES for record in records}


if __name__ == "__main__":
    for page in DOCS.rglob("*.md"):
        page.write_text(rewritten(page.read_text("utf-8")), "utf-8")
