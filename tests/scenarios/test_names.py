"""What pictures and text call the parts of a scenario: as its document says, numbered as its arrays are."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import jax
import numpy as np
import pytest

import jaxenv
import scenarios
from jaxenv.core import ScenarioBank
from jaxenv.envs.teamsclone import messages
from scenarios import teamsclone

DAY = {
    "scenario_id": "monday",
    "persona": {
        "persona_id": "me",
        "home_location": "Flat",
        "primary_work_location": "Lab",
        "preferred_meeting_window": [540, 1000],
    },
    "calendar": [
        {"event_id": "e1", "title": "Talk", "start_min": 700, "end_min": 730, "location": "Hall"},
        {"event_id": "e2", "start_min": 600, "end_min": 630, "location": "Lab"},
    ],
    "pending_requests": [
        {"event_id": "r1", "title": "Chat", "from_person": "Ann", "start_min": 1, "end_min": 2, "location": "Cafe"},
        {"event_id": "r2", "start_min": 1, "end_min": 2, "location": "Flat"},
    ],
    "tasks": [
        {"task_id": "t1", "title": "Tidy", "remaining_minutes": 30, "priority": 1},
        {"task_id": "t2", "remaining_minutes": 30, "priority": 3},
    ],
    "travel_times": {"Moon": {"Lab": 5}},
}
TASK = {
    "id": "move",
    "domain": "moving",
    "goal": "Be in the new flat.",
    "hidden_state": {"rain": 3},
    "visible_world": {"van": None, "date": [1, 2]},
    "viable_routes": [
        {"id": "pack", "name": "Pack all", "consequences": {"packed": True, "van": "small"}},
        {"id": "drive", "preconditions": {"packed": True, "finances.liquidity": {"op": "ge", "value": 5}}},
    ],
    "milestones": [
        {"id": "m1", "condition_key": "packed", "condition_value": True, "description": "All in boxes."},
        {"id": "m2", "condition_key": "key", "condition_value": 1},
    ],
    "event_schedule": [
        {"id": "storm", "step": 2, "description": "A storm.", "hidden_state_mutation": {"rain": 9.5}},
        {"id": "calm", "step": 3, "hidden_state_mutation": {"rain": 3.0}, "world_mutation": {"packed": False}},
    ],
    "success_conditions": [{"any": [{"key": "moved", "value": True}, {"key": "van", "value": "big"}]}],
    "horizon": 5,
}
SHOP = {
    "id": "shop",
    "teams": [
        {"id": "front", "name": "Front", "channels": [{"id": "counter", "name": "The counter"}, {"id": "window"}]},
        {"id": "back", "channels": [{"id": "cellar"}]},
    ],
    "users": [{"id": "ann", "name": "Ann"}, {"id": "ben"}],
    "messages": [{"channel": "cellar", "user": "ben", "text": "Cold down here."}],
    "texts": {"greeting": ["Good day!", "Hello everybody!"]},
}


def names_of(environment: str, document: dict) -> dict:
    return dict(scenarios.parse(environment, document).names(0))


def test_names_of_a_day() -> None:
    assert names_of("lifeops", DAY) == {
        "scenario": "monday",
        "places": {0: "Flat", 1: "Lab", 3: "Hall", 4: "Cafe"},  # the Moon is of no account to this day
        "events": ("Talk", "e2"),
        "requests": ("Chat", "r2"),
        "people": ("Ann", ""),
        "tasks": ("t2", "Tidy"),
    }


def test_a_document_without_an_id_is_called_as_its_file(tmp_path: Path) -> None:
    for name in ("monday", "tuesday"):
        (tmp_path / f"{name}.json").write_text(json.dumps(DAY | {"scenario_id": ""}))
    library = scenarios.load(tmp_path)
    assert [day.scenario_id for day in library.documents] == list(library.ids) == ["monday", "tuesday"]
    assert library.names(1)["scenario"] == "tuesday"
    (tmp_path / "both.yaml").write_text(scenarios.dump(library.documents))
    assert scenarios.load(tmp_path / "both.yaml").documents == library.documents
    assert names_of("lifeops", DAY | {"scenario_id": ""})["scenario"] == ""  # at hand it has none


def test_names_of_a_task() -> None:
    assert names_of("lifestack", TASK) == {
        "task": "move",
        "domain": "moving",
        "goal": "Be in the new flat.",
        "keys": ("rain", "van", "date", "packed", "key", "moved"),
        "values": (("3", "9.5"), ("small",), ("[1, 2]",), ("true", "false"), (), ()),
        "routes": ("Pack all", "drive"),
        "milestones": ("All in boxes.", "m2"),
        "events": ("storm", "calm"),
        "stories": ("A storm.", ""),
    }


def test_names_of_a_workspace() -> None:
    found = names_of("teamsclone", SHOP)
    texts = found.pop("texts")
    assert found == {
        "workspace": "shop",
        "teams": ("Front", "back"),
        "channels": ("The counter", "window", "cellar"),
        "team_of": (0, 0, 1),
        "users": ("Ann", "ben"),
    }
    default = teamsclone.texts([])
    assert {"Good day!", "Cold down here.", *default} >= set(texts.values()) > {"Good day!", "Cold down here."}
    assert {texts[len(default)], texts[len(default) + 1]} == {"Good day!", "Cold down here."}


def test_texts_are_numbered_as_in_the_bank_that_they_share() -> None:
    library = scenarios.parse("teamsclone", [{**SHOP, "id": "first", "texts": {"reply": ["Fine."]}}, SHOP])
    for number in range(2):
        ring = np.asarray(library.bank[number].messages)[:, 2]
        (code,) = np.asarray(messages.text(ring[ring != 0])).tolist()
        assert library.names(number)["texts"][code] == "Cold down here."
    assert library.names(1)["texts"] != teamsclone.names(library.documents[1])["texts"]


@pytest.mark.parametrize("environment", ["lifeops", "lifestack", "teamsclone"])
def test_every_index_of_the_arrays_has_a_name(environment: str) -> None:
    library = scenarios.load(environment)
    for number in range(len(library)):
        arrays, names = library.bank[number], library.names(np.int32(number))
        counts = {
            "lifeops": lambda day: {"requests": day.num_requests, "tasks": (day.tasks.priority > 0).sum()},
            "lifestack": lambda task: {
                "keys": task.num_keys,
                "routes": task.num_routes,
                "milestones": task.num_milestones,
            },
            "teamsclone": lambda place: {"channels": place.num_channels, "users": place.num_users},
        }[environment](arrays)
        for field, count in counts.items():
            assert len(names[field]) == count


def test_a_generated_scenario_is_named_by_its_decompiled_document() -> None:
    env, params = jaxenv.make("TeamsClone-v0")
    drawn = jax.jit(jax.vmap(lambda key: env.generate(key, 0.5)))(jax.random.split(jax.random.key(1), 2))
    library = scenarios.decompile("teamsclone", ScenarioBank(drawn, shared=params.bank.shared))
    names = library.names(1)
    assert names["workspace"] == "scenario_2"
    assert len(set(names["channels"])) == len(names["channels"])
    used = np.asarray(drawn.texts[1])[: int(drawn.first_text[1][-1] + drawn.num_texts[1][-1])]
    assert set(used.tolist()) <= set(names["texts"])


def generated(id: str, wording: str = "usual") -> scenarios.Library:
    """Eight scenarios of the generator, in words."""
    env, _ = jaxenv.make(id)
    keys = jax.random.split(jax.random.key(3), 8)
    bank = jaxenv.ScenarioBank(jax.jit(jax.vmap(lambda key: env.generate(key, 0.7)))(keys))
    return scenarios.decompile(env.family, bank, wording)


def words_of(library: scenarios.Library) -> set[str]:
    """Every name that a person reads, but those of places and of texts."""
    fields = (
        "events",
        "requests",
        "people",
        "tasks",
        "keys",
        "routes",
        "milestones",
        "goal",
        "teams",
        "channels",
        "users",
        "jobs",
        "projects",
        "facts",
    )
    found = set()
    for number in range(len(library)):
        names = library.names(number)
        for field in fields:
            value = names.get(field, ())
            value = value.values() if isinstance(value, Mapping) else value
            found |= {value} if isinstance(value, str) else set(value)
    return found - {""}


@pytest.mark.parametrize(
    "id",
    ["LifeOps-v0", *(pytest.param(id, marks=pytest.mark.slow) for id in ("LifeStack-v0", "Week-v0")), "TeamsClone-v0"],
)
def test_generated_scenarios_have_words_and_the_held_out_ones_others(id: str) -> None:
    usual, held_out = generated(id), generated(id, "held_out")
    assert usual.bank.fingerprint() == held_out.bank.fingerprint()
    words, others = words_of(usual), words_of(held_out)
    assert len(words) > 15
    assert not words & others
    assert not [word for word in words | others if re.search(r"\d$", word)]  # no `route_2`
    assert words_of(generated(id)) == words


@pytest.mark.slow
def test_a_scenario_has_the_same_words_wherever_it_lies() -> None:
    library = generated("LifeStack-v0")
    alone = scenarios.decompile(
        "lifestack", jaxenv.ScenarioBank(jax.tree.map(lambda x: x[5:6], library.bank.scenarios))
    )
    assert alone.names(0) | {"task": ""} == library.names(5) | {"task": ""}


def test_an_unknown_wording_is_refused() -> None:
    with pytest.raises(scenarios.ScenarioError, match="Did you mean 'held_out'"):
        scenarios.TextEnv("LifeOps-v0", "generated", wording="heldout")
