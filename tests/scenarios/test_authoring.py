"""The JSON Schema says of each field what the documents say, and the example explains each of them."""

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path

import jax
import jsonschema
import pytest
from pydantic import ValidationError

import jaxenv
import scenarios
from jaxenv.envs.teamsclone.types import WINDOW
from scenarios import ScenarioError, authoring, lifeops, lifestack, teamsclone
from scenarios.libraries import SHIPPED
from scenarios.loading import ENVIRONMENTS
from scenarios.text.source import read

NAMES = list(ENVIRONMENTS)
RECORDS = {  # section of the example -> the record that stands in it
    "lifeops": {"persona": "Persona", "calendar": "Event", "pending_requests": "Request", "tasks": "Task"},
    "lifestack": {
        "constraints": "Constraints",
        "resources": "Resources",
        "success_conditions": "Condition",
        "viable_routes": "Route",
        "milestones": "Milestone",
        "event_schedule": "ExoEvent",
    },
    "teamsclone": {
        "teams": "Team",
        "channels": "Channel",
        "users": "User",
        "kind_mix": "KindMix",
        "presence_transition": "PresenceTransition",
        "messages": "Message",
        "texts": "Texts",
    },
    "week": {
        "places": "Place",
        "channels": "Channel",
        "meetings": "Meeting",
        "projects": "Project",
        "scouts": "Scout",
        "steps": "Step",
        "ways": "Approach",
        "errands": "Errand",
        "facts": "Fact",
        "posts": "Post",
    },
}
# Told by a comment above, or in words of their own.
SECTIONS = (
    *("persona", "calendar", "pending_requests", "tasks", "travel_times"),
    *RECORDS["lifestack"],
    *RECORDS["teamsclone"],
    *RECORDS["week"],
    *("failure_conditions", "hidden_state", "mutable_world", "visible_world", "disruption", "cost"),
)
TABLES = ("cost", "kind_mix", "presence_transition")  # within a record
OWN_WORDS = ("AnyOf", "Comparison", "Cost", "Texts")


def validator(name: str = "lifeops") -> jsonschema.Draft7Validator:
    return jsonschema.Draft7Validator(scenarios.schema(name))


def complaints(document: dict) -> list[tuple]:
    """The path of each part that the schema refuses."""
    return [tuple(error.absolute_path) for error in validator().iter_errors(document)]


def example(name: str = "lifeops") -> dict:
    (source,) = read(SHIPPED / f"{name}.example.yaml")
    return source.value


def properties(schema: dict) -> Iterator[tuple[str, str, dict]]:
    """(record, field, schema) of every field; the record of the document itself is called ""."""
    for record, found in {"": schema, **schema["$defs"]}.items():
        for field, value in found["properties"].items():
            yield record, field, value


# The schema ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_shipped_schema_is_that_of_the_documents(name: str) -> None:
    # where this fails: make library
    assert (SHIPPED / f"{name}.schema.json").read_text("utf-8") == authoring.schema_text(name)


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_is_one_and_explains_every_field(name: str) -> None:
    schema = scenarios.schema(name)
    jsonschema.Draft7Validator.check_schema(schema)
    assert schema["title"]
    for record in (schema, *schema["$defs"].values()):
        assert record["description"]
        assert record["additionalProperties"] is False
    for record, field, value in properties(schema):
        assert value.get("description"), f"{record} {field} has no description"
        required = field in (schema["$defs"][record] if record else schema).get("required", [])
        assert ("default" in value) != required, f"{record} {field}: required, or with a default"


def test_the_schema_names_what_there_is() -> None:
    schema = scenarios.schema("lifeops")
    library, own = schema["properties"]["persona"]["anyOf"]
    assert library["enum"] == list(scenarios.lifeops.PERSONAS)
    assert own == {"$ref": "#/$defs/Persona"}
    assert schema["properties"]["day_of_week"]["enum"][-2:] == ["Sunday", None]
    assert schema["$defs"]["Event"]["properties"]["kind"]["enum"] == ["meeting", "obligation", "focus", "personal"]
    for record, field, value in properties(schema):
        if field.endswith("_min") or field == "preferred_meeting_window":
            assert "inutes after midnight" in value["description"], (record, field)
            assert (value.get("items", value)["minimum"], value.get("items", value)["maximum"]) == (0, 1440)


@pytest.mark.parametrize("name", NAMES)
def test_the_library_fits_the_schema_and_names_it(name: str) -> None:
    for file in (SHIPPED / name).iterdir():
        hint, *_ = file.read_text("utf-8").splitlines()
        said = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", hint)
        assert said, file
        assert (file.parent / said[1]).resolve() == SHIPPED / f"{name}.schema.json"
        for source in read(file):
            validator(name).validate(source.value)


def test_generated_days_fit_the_schema() -> None:
    env, _ = jaxenv.make("LifeOps-v0")
    draw = jax.jit(jax.vmap(env.generate, in_axes=(0, None)))
    drawn = scenarios.decompile("lifeops", jaxenv.ScenarioBank(draw(jax.random.split(jax.random.key(0), 10), 0.8)))
    for day in drawn.documents:
        validator().validate(day.plain())
        validator().validate(day.model_dump(mode="json"))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("calender",), []),
        (("environment",), "lifeopps"),
        (("day_of_week",), "monday"),
        (("max_steps",), 0),
        (("persona",), "early_brid_engineer"),
        (("persona", "preferred_meeting_window"), [540]),
        (("persona", "focus_time_weight"), 100.5),
        (("calendar", 0, "start_min"), "25:99"),
        (("calendar", 0, "end_min"), 1441),
        (("calendar", 1, "kind"), "meting"),
        (("pending_requests", 0, "event_id"), ""),
        (("pending_requests", 0, "flexible"), "no"),
        (("pending_requests", 0, "importance"), 4),
        (("tasks", 0, "due_in_days"), -1),
        (("tasks", 0, "remaining_minutes"), True),
        (("travel_times", "Home", "Office"), 1441),
        (("travel_times", "Home"), 25),
    ],
)
def test_bad_documents_do_not_fit(path: tuple, value: object) -> None:
    document = example()
    assert complaints(document) == []
    place(document, path, value)
    (found,) = complaints(document)
    # an unknown field is told of its record, and whatever is wrong with an own persona of the persona
    assert found in (path, path[:-1])


def place(document: dict, path: tuple, value: object) -> None:
    for part in path[:-1]:
        document = document[part]
    document[path[-1]] = value


def leaves(value: object, path: tuple = ()) -> Iterator[tuple]:
    """The path of every part of a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from leaves(item, (*path, key))


@pytest.mark.parametrize("name", NAMES)
def test_schema_and_documents_agree_on_every_field(name: str) -> None:
    """Whatever stands instead of one part of the example; what two fields say together is for `check` alone."""
    document, accepts = example(name), validator(name).is_valid
    odd = [None, True, "", "x", "busy_parent", "Sunday", "eq", "wait", -1, 1.5, 40_000, [], ["x"], {}]
    odd += ["24:01", "7:60", "7:5", "-1:00", ["8:00", "9:00"]]
    odd += [
        {"x": {"x": 1}},
        {"op": "eq"},
        {"key": "x", "value": None},
        {"any": []},
        {"any": [{"key": "x", "value": 1}]},
    ]
    count = 0
    alike = {tuple(0 if isinstance(key, int) else key for key in path): path for path in reversed([*leaves(document)])}
    for path in alike.values():  # the first of each list
        for value in odd:
            changed = copy.deepcopy(document)
            place(changed, path, value)
            try:
                ENVIRONMENTS[name].document.model_validate(changed)
                fits = True
            except ValidationError:
                fits = False
            assert accepts(changed) == fits, f"{path} is {value!r}"
            count += fits
    assert count > 100  # both answers are met


def test_an_unknown_environment_has_no_schema() -> None:
    with pytest.raises(ScenarioError, match="Did you mean 'lifeops'"):
        scenarios.schema("lifeop")
    with pytest.raises(ScenarioError, match="Did you mean 'lifeops'"):
        scenarios.new("lifeop")


# The example --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_example_is_fine(name: str, tmp_path: Path) -> None:
    text = scenarios.new(name)
    (file := tmp_path / "day.yaml").write_text(text, "utf-8")
    library = scenarios.load(file)
    assert library.environment == name
    assert library.warnings == ()
    (source,) = read(file)
    validator(name).validate(source.value)
    assert text.startswith(f"# yaml-language-server: $schema={name}.schema.json\n")
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize("name", NAMES)
def test_the_example_has_every_field(name: str) -> None:
    text = scenarios.new(name)
    for record, field, _ in properties(scenarios.schema(name)):
        assert re.search(rf"\b{field}: ", text) or re.search(rf"^ *{field}:$", text, re.M), f"{record} {field}"


def comments(name: str) -> dict[tuple[str, str], str]:
    """What the example says of the fields of each record."""
    found, within = {}, [(-1, "")]  # the records that a line stands in, with how far each is indented
    for line in filter(str.strip, scenarios.new(name).splitlines()):
        indent = len(line) - len(line.lstrip())
        while within[-1][0] >= indent:
            within.pop()
        section = re.match(r" *(\w+):(?! +\{)", line)
        if section and section[1] in RECORDS[name]:
            within.append((indent, RECORDS[name][section[1]]))
        if said := re.match(r"[- ]*(\w+):.*? # (.+)", line):
            found.setdefault((within[-1][1], said[1]), said[2])
    return found


def in_brackets(field: str, schema: dict) -> str | None:
    """How the example writes a default; None for a field that must be there."""
    own = {
        "scenario_id": "(the name of the file)",
        "id": "(the name of the file)",
        "max_steps": "(requests + 5)",
        "required_action_types": "(execute)",
        "hours": "(8:00 to 18:00)",
        "begins": "(Mon 8:00)",
        "due": "(Fri 18:00)",
    }
    default = schema.get("default", ...)
    if default is ...:
        return None
    if field in own:
        return own[field]
    if default in ("", [], {}):
        return "(none)"
    return f"({default if isinstance(default, str) else json.dumps(default).removesuffix('.0')})"


@pytest.mark.parametrize("name", NAMES)
def test_the_example_names_ranges_and_defaults(name: str) -> None:
    said, told = comments(name), 0
    for record, field, schema in properties(scenarios.schema(name)):
        comment = said.get((record, field), "as above")
        if (record in ("", "Project", "Step") and field in SECTIONS) or record in OWN_WORDS or field in TABLES:
            continue
        if comment.startswith("as above") and record in ("Request", "ExoEvent", "Approach", "Errand", "Fact"):
            continue
        may_be, default = comment.split(": ")[0], in_brackets(field, schema)
        assert default in may_be if default else "(" not in may_be, (record, field)
        for bound in ("minimum", "maximum"):
            assert bound not in schema or "time" in may_be or f"{schema[bound]:.0f}" in may_be, (record, field)
        told += 1
    assert told > 20


def test_the_examples_name_the_capacities() -> None:
    limits = lifeops.Limits()
    room = f"{limits.requests} requests, {limits.tasks} tasks, {limits.places} places and {limits.events} events"
    assert room in scenarios.new("lifeops")
    more = lifestack.Limits()
    room = (
        f"{more.keys} keys, {more.codes} codes a key (absence is one), {more.routes} routes, {more.milestones} "
        f"milestones, {more.events} events, {more.success} members of success_conditions and {more.bounds} different "
        "bounds on metrics."
    )
    assert room in scenarios.new("lifestack").replace("\n# ", " ")
    most = teamsclone.Limits()
    room = f"{most.teams} teams, {most.channels} channels, {most.users} users, {most.texts} texts"
    assert f"{room}, and {WINDOW} messages a channel." in scenarios.new("teamsclone")


def test_new_writes_a_file_and_its_schema(tmp_path: Path) -> None:
    file = tmp_path / "days" / "monday.yaml"
    text = scenarios.new("lifeops", file)
    assert file.read_text("utf-8") == text == scenarios.new("lifeops")
    assert json.loads((file.parent / "lifeops.schema.json").read_text("utf-8")) == scenarios.schema("lifeops")
    assert len(scenarios.load(file.parent)) == 1  # the schema is no scenario


def test_new_leaves_alone_what_there_is(tmp_path: Path) -> None:
    (file := tmp_path / "monday.yaml").write_text("mine")
    with pytest.raises(ScenarioError, match=r"monday\.yaml: the file already exists"):
        scenarios.new("lifeops", file)
    assert file.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [file]
    with pytest.raises(ScenarioError, match=r"a folder, expected .*day\.yaml"):
        scenarios.new("lifeops", tmp_path)
    with pytest.raises(ScenarioError, match=r"ends in \.yaml or \.yml"):
        scenarios.new("lifeops", tmp_path / "monday.json")
    assert list(tmp_path.iterdir()) == [file]
