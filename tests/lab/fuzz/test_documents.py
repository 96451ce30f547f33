"""A few hundred mutants of documents, and every one that was ever neither loaded nor refused as it should be."""

import collections
import itertools
import json
import math
from pathlib import Path
from typing import Any

import pytest

from lab.fuzz.documents import DAMAGES, Mutant, judge
from lab.fuzz.edits import mutants
from lab.fuzz.judging import Fault, run
from lab.fuzz.junk import Raising, Word

MUTANTS = 105
TASK: dict[str, Any] = {"horizon": 5, "mutable_world": {"a": 1}, "success_conditions": [{"key": "a", "value": 2}]}
DAY: dict[str, Any] = {"persona": "busy_parent", "tasks": [{"task_id": "t1", "remaining_minutes": 30}]}
ROUTE = {"id": "r", "consequences": {"a": 2}}
FAILING = Raising("iter", RuntimeError("\ud800 no keys"))
BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))
LONG_ALIAS = f"a: &a {'x' * 40_000}\nb: [{', '.join(['*a'] * 60)}]\n"


@pytest.mark.slow
def test_mutants_are_loaded_or_refused(tmp_path: Path) -> None:
    answers: dict[str, collections.Counter] = {kind: collections.Counter() for kind in DAMAGES}
    for each in run(judge, itertools.islice(mutants(DAMAGES, 7), MUTANTS), tmp_path):
        assert not each.fault, (each.kind, each.message)
        answers[each.kind][each.answer] += 1
    assert all(counts["refused"] for counts in answers.values())
    assert sum(counts["loaded"] for counts in answers.values()) > MUTANTS // 20


def test_a_seed_gives_the_same_mutants() -> None:
    first, again, other = ([m.content for _, m in itertools.islice(mutants(DAMAGES, seed), 6)] for seed in (3, 3, 4))
    assert first == again != other


def yaml(text: str) -> Mutant:
    return Mutant("lifestack", ".yaml", text.encode("utf-8", "surrogatepass"))


def json_of(value: Any, environment: str = "lifestack") -> Mutant:
    return Mutant(environment, ".json", json.dumps(value).encode())


def python(value: Any, environment: str = "lifestack") -> Mutant:
    return Mutant(environment, "", value)


def cycle() -> dict[str, Any]:
    found: dict[str, Any] = dict(TASK)
    found["mutable_world"] = {"a": found}
    return found


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


REFUSED: dict[str, tuple[Mutant, str]] = {
    "nine levels of aliases": (yaml(BOMB), "more than 50000 values"),
    "a long text by its alias": (yaml(LONG_ALIAS), "more than 2000000 characters"),
    "a list in itself": (yaml("a: &a [*a]"), "20 levels"),
    "tag of a truth value": (yaml("a: !!bool x"), ":1: not YAML as scenarios use it: found the tag '!!bool'"),
    "tag of an empty number": (yaml('horizon: !!int ""'), "found the tag '!!int'"),
    "tag of a date": (yaml("horizon: 3\nid: !!timestamp x"), ":2: not YAML"),
    "tag of a long hexadecimal": (yaml(f"horizon: !!int 0x{'f' * 9000}"), "found the tag '!!int'"),
    "tag without a name": (yaml("a: ! x"), "found the tag '!'"),
    "unknown alias": (yaml("a: *b"), "undefined alias 'b'"),
    "alias of an anchor of another document": (yaml("a: &b 1\n---\na: *b"), "undefined alias 'b'"),
    "an escape beyond what C counts": (
        yaml('horizon: 5\nid: "\\UFFFFFFFF"'), r":2: not YAML: found \UFFFFFFFF, expected a character, of which",
    ),
    "an escape after the last character": (yaml('id: "a\\U00110000"'), r":1: not YAML: found \U00110000, expected"),
    "an escape of 31 bits": (yaml('id: "\\U7fffffff"'), r":1: not YAML: found \U7fffffff, expected a character"),
    "a version of 9,000 digits": (yaml(f"%YAML 1.{'9' * 9000}\n---\n"), ":1: not YAML: found a version of"),
    "a major version of 9,000 digits": (yaml(f"%YAML {'9' * 9000}.1\n---\n"), ":1: not YAML: found a version of"),
    "repeated anchor": (yaml("a: &b 1\nc: &b 2"), "duplicate anchor 'b'"),
    "quotes in JSON": (Mutant("lifeops", ".json", b'\\"' * 20_000), "not JSON"),
    "half of a string in JSON": (
        Mutant("lifeops", ".json", b'{"a": "' + b'\\"' * 400_000),
        "not JSON: Unterminated string starting at (column 7)",
    ),
    "a key twice in JSON": (Mutant("lifeops", ".json", b'{"a": 1,\n"a": 2}'), ":2: the key 'a' is repeated"),
    "not a number in JSON": (Mutant("lifeops", ".json", b'{"a": NaN}'), "found NaN, expected a finite number"),
    "brackets": (Mutant("lifeops", ".json", b"[" * 90_000), "20 levels"),
    "nested mappings": (yaml("{a: " * 3000), "20 levels"),
    "a fact of 310 digits": (yaml(f"horizon: 5\nmutable_world: {{a: {10**309}}}"), ":2: found a number of 310 digits"),
    "a long fact that is written short": (yaml("horizon: 5\nmutable_world: {a: {b: 1e400}}"), ":2: found 1e400"),
    "an endless number": (Mutant("lifeops", ".yaml", b"max_steps: " + b"9" * 90_000), "digits"),
    "half a character": (yaml('horizon: 5\nid: "\\ud800"'), r':2: found "\ud800", text with half a character'),
    "half a character in a key": (json_of({**TASK, "mutable_world": {"\ud800": 1}}), "half a character"),
    "half a character in Python": (python({**TASK, "id": "\ud800"}), "document 1: id: found"),
    "values of a fact": (
        json_of({**TASK, "viable_routes": [{**ROUTE, "id": f"r{n}", "consequences": {"a": n}} for n in range(5000)]}),
        "capacity is 8 codes",
    ),
    "unknown fields": (json_of({**DAY, **{f"x{n}": n for n in range(10_000)}}, "lifeops"), "and 9980 more."),
    "wrong names": (
        json_of({**TASK, "viable_routes": [{**ROUTE, "closes_routes": [f"q{n}" for n in range(1000)]}]}),
        "and 980 more.",
    ),
    "wrong metrics": (json_of({**TASK, "disruption": {f"career.x{n}": n % 9 for n in range(5000)}}), "more."),
    "wrong kinds": (
        json_of({**DAY, "calendar": [{"event_id": f"e{n}", "kind": "meting"} for n in range(2000)]}, "lifeops"), "more."
    ),
    "a long name": (json_of({**DAY, "y" * 100_000: 1}, "lifeops"), "yyy…'"),
    "long names": (
        json_of({**DAY, "calendar": [
            {"event_id": "e" * 50_000, "start_min": 1, "end_min": 0, "location": "Home"}] * 9}, "lifeops"), "eee…'",
    ),
    "a long kind": (json_of({**DAY, "day_of_week": "Monday" * 20_000}, "lifeops"), "day_of_week is"),
    "a comparison that is none": (
        json_of({**TASK, "viable_routes": [{**ROUTE, "preconditions": {"a": {"op": "eq", "value": 1, "x": 2}}}]}),
        "unknown field 'x'",
    ),
    "a key that is null": (python({**TASK, None: 1}), "document 1: found null as a key"),
    "a key that is null, deep": (python({**TASK, "mutable_world": {None: 1}}), "document 1: mutable_world: found null"),
    "a cycle": (python(cycle()), "20 levels"),
    "nesting": (python({**TASK, "mutable_world": nested(5000)}), "20 levels"),
    "a cycle beside the fields": (python({**TASK, "domain_metadata": cycle()}), "20 levels"),
    "a mapping that fails": (python({**TASK, "mutable_world": FAILING}), "cannot be read: RuntimeError"),
    "not a number": (python({**TASK, "mutable_world": {"a": math.nan}}), "'a': found nan, expected a finite number"),
    "a number that cannot be printed": (python({**TASK, "horizon": 16**9000}), "a number of more than 10800 digits"),
    "bytes": (python({**TASK, "id": b"a"}), "document 1: id: found bytes"),
    "an iterator": (python({**TASK, "success_conditions": itertools.count()}), "found count"),
    "many lists": (python({**TASK, "mutable_world": {"a": [[]] * 10**6}}), "more than 50000 values"),
    "much text": (python({**TASK, "mutable_world": {"a": ["x" * 10**6] * 100}}), "more than 2000000 characters"),
    "a reward that leaves the space": (
        json_of({**TASK, "viable_routes": [{**ROUTE, "final_reward": 101}]}), "-100 to 100"
    ),
    "alternatives that never hold": (
        json_of({**TASK, "viable_routes": [ROUTE], "success_conditions": [{"any": []}]}), "at least one item"
    ),
}  # fmt: skip
LOADED: dict[str, Mutant] = {
    "a date": yaml("horizon: 5\nid: 2020-01-01\nmutable_world: {a: 1}"),
    "text of its own class": python({**TASK, "id": Word("mine")}),
    "control characters": json_of({**TASK, "id": "a\x00\x1b", "viable_routes": [ROUTE]}),
    "a reward at the edge of the space": json_of({**TASK, "viable_routes": [{**ROUTE, "final_reward": 100}]}),
    "thousands of alternatives that never hold": json_of(
        {**TASK, "failure_conditions": [{"any": [{"key": f"a{n % 9}", "value": f"x{n}"} for n in range(1000)]}]}
    ),
    "metadata of any kind": json_of({**TASK, "domain_metadata": {"n": 2**63, "list": [None, {"a": 1.5}]}}),
    "a long name": json_of({**DAY, "scenario_id": "x" * 5000}, "lifeops"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_now(name: str, tmp_path: Path) -> None:
    mutant, words = REFUSED[name]
    message = judge(mutant, tmp_path)
    assert words in message, message[:500]


@pytest.mark.parametrize("name", LOADED)
def test_loaded_now(name: str, tmp_path: Path) -> None:
    assert judge(LOADED[name], tmp_path) == ""


def test_the_judge_finds_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.fuzz.judging.MAX_MESSAGE", 10)
    with pytest.raises(Fault, match="a message of"):
        judge(REFUSED["bytes"][0], tmp_path)
    monkeypatch.setattr("lab.fuzz.documents.SECONDS", -1.0)
    monkeypatch.setattr("lab.fuzz.documents.SECONDS_PER_BYTE", 0.0)
    with pytest.raises(Fault, match="loaded after"):
        judge(LOADED["a date"], tmp_path)
    monkeypatch.setattr("lab.fuzz.documents.load", lambda *_: 1 / 0)
    (found,) = run(judge, iter([("bytes", LOADED["a date"])]), tmp_path)
    assert found.answer == "found"
    assert "ZeroDivisionError" in found.fault
