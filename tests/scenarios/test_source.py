"""Reading YAML and JSON: values, lines, and what is not readable."""

import json
import sys
from pathlib import Path

import pytest

from scenarios import ScenarioError
from scenarios.text.source import read


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refused(path: Path) -> str:
    with pytest.raises(ScenarioError) as error:
        read(path)
    assert len(error.value.problems) == 1
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)
    return str(error.value)


def test_lines_of_keys_and_items(tmp_path: Path) -> None:
    text = "# a comment\na: 1\nrows:\n  - {x: 1}\n  - x: 2\n    y:\n      3\n"
    (source,) = read(write(tmp_path, "day.yaml", text))
    assert source.value == {"a": 1, "rows": [{"x": 1}, {"x": 2, "y": 3}]}
    assert source.lines[()] == source.lines[("a",)] == 2
    assert source.lines[("rows", 0, "x")] == 4
    assert source.lines[("rows", 1)] == 5
    assert source.lines[("rows", 1, "y")] == 6


def test_names_that_begin_with_a_dot_are_passed_over(tmp_path: Path) -> None:
    write(tmp_path, "week/monday.yaml", "a: 1")
    for name in ("._monday.yaml", ".ipynb_checkpoints/monday-checkpoint.yaml", ".git/config.json"):
        write(tmp_path, name, b"\x00\x05\x16\x07")
    assert [source.value for source in read(tmp_path)] == [{"a": 1}]


def test_plain_words_are_those_of_json(tmp_path: Path) -> None:
    text = "[true, null, ~, 12, -3, 1.5, 1e3, yes, No, 0540, 9:30, 2020-01-01, '7', -, 1_000, 0x1]"
    (source,) = read(write(tmp_path, "a.yaml", f"row: {text}"))
    numbers = [True, None, None, 12, -3, 1.5, 1000.0]
    words = ["yes", "No", "0540", "9:30", "2020-01-01", "7", "-", "1_000", "0x1"]
    assert source.value["row"] == numbers + words


@pytest.mark.parametrize("indent", [None, 2, "\t"])
def test_json_is_read_with_lines(tmp_path: Path, indent: int | str | None) -> None:
    document = {"name": '😀 é " \\ / : # -', "rows": [{"x": 1}, {"x": -2.5e-7}], "none": None}
    (source,) = read(write(tmp_path, "a.json", json.dumps(document, indent=indent)))
    assert source.value == document
    assert source.lines[("rows", 1, "x")] == (8 if indent else 1)


def test_a_file_holds_one_or_several(tmp_path: Path) -> None:
    one = read(write(tmp_path, "one.yaml", "a: 1"))
    assert [(source.value, source.default_id) for source in one] == [({"a": 1}, "one")]
    listed = read(write(tmp_path, "list.yaml", "- a: 1\n- a: 2"))
    assert [source.default_id for source in listed] == ["list_1", "list_2"]
    several = read(write(tmp_path, "several.yaml", "---\na: 1\n---\n---\na: 2\n"))
    assert [source.value for source in several] == [{"a": 1}, {"a": 2}]
    assert several[1].lines[("a",)] == 5


def test_a_folder_is_read_in_the_order_of_its_names(tmp_path: Path) -> None:
    write(tmp_path, "b.yaml", "n: 2")
    write(tmp_path, "a/z.yml", "n: 1")
    write(tmp_path, "c.json", '{"n": 3}')
    write(tmp_path, "readme.txt", "\tno")
    write(tmp_path, "lifeops.schema.json", "{}")
    assert [source.value["n"] for source in read(tmp_path)] == [1, 2, 3]


def test_the_lines_of_json_are_those_of_its_tokens(tmp_path: Path) -> None:
    text = '{"a"\n:\t[1, {"{": "]\\n\u2028"},\n2.5],\r\n\n"b": null}'
    (source,) = read(write(tmp_path, "a.json", text))
    assert source.value == {"a": [1, {"{": "]\n\u2028"}, 2.5], "b": None}
    lines = {(): 1, ("a",): 1, ("a", 0): 2, ("a", 1): 2, ("a", 1, "{"): 2, ("a", 2): 3, ("b",): 5}
    assert source.lines == lines


def test_anchors_can_share_a_table(tmp_path: Path) -> None:
    first, second = read(write(tmp_path, "a.yaml", "- t: &t {a: 1}\n- t: *t\n"))
    assert first.value == second.value


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.yaml", "a: 1\nb:\n\t- c\n", [":3:", "tab", "spaces"]),
        ("a.yaml", "a: 1\n\tb: 2\n", [":2:", "tab"]),
        ("a.yaml", "a: [1, 2\nb: 3\n", [":2:", "not YAML"]),
        ("a.yaml", "", ["empty"]),
        ("a.yaml", "# nothing\n", ["empty"]),
        ("a.yaml", "---\n", ["empty"]),
        ("a.json", "", ["empty"]),
        ("a.yaml", "[]", ["empty"]),
        ("a.json", '{"a": 1,\n "b": }', [":2:", "not JSON", "column 7"]),
        ("a.json", '{"a": 1,\n}', ["not JSON"]),
        ("a.json", '{"a": 1} # all', [":1:", "not JSON", "column 10"]),
        ("a.json", '{"a":\n[1,\nNaN]}', [":3:", "found NaN, expected a finite number"]),
        ("a.yaml", "a: 1\nb: 2\na: 3\n", [":3:", "'a' is repeated", "line 1"]),
        ("a.json", '{"a": 1,\n"a": 2}', [":2:", "'a' is repeated"]),
        ("a.yaml", "a: 1\n2: 3\n", [":2:", "found 2 as a key", "quotes"]),
        ("a.yaml", "? [a]\n: 1\n", [":1:", "a list or mapping"]),
        ("a.yaml", "a: &a [*a]", [":1:", "levels"]),
        ("a.yaml", "[" * 2000, ["levels"]),
        ("a.json", "[" * 100000, ["levels"]),
        ("a.json", "[" + "1" * 5000 + "]", [":1:", "5000 digits", "at most 100"]),
        ("a.yaml", "a: !!python/name:os.system x", [":1:", "not YAML"]),
        ("a.yaml", "a: !!int x", [":1:", "not YAML"]),
        ("a.yaml", "a: 1\nb: \x07\n", [":2:", "not YAML"]),
        ("a.yaml", b"a: \xff", ["UTF-8"]),
    ],
)
def test_unreadable_files_teach(tmp_path: Path, name: str, text: str | bytes, words: list) -> None:
    message = refused(write(tmp_path, name, text))
    for word in words:
        assert word in message


@pytest.mark.parametrize(("name", "text"), [("a.yaml", "[" * 50_000), ("a.json", "[" * 100_000)])
def test_depth_is_not_left_to_the_stack(tmp_path: Path, name: str, text: str) -> None:
    """Another library may have raised the limit of recursion, as Hypothesis does."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10**6)
    try:
        assert "levels" in refused(write(tmp_path, name, text))
    finally:
        sys.setrecursionlimit(limit)


def test_nothing_to_read(tmp_path: Path) -> None:
    assert "no such file" in refused(tmp_path / "day.yaml")
    assert "holds no scenarios" in refused(tmp_path)


def test_problems_of_all_files_are_reported(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", "")
    write(tmp_path, "b.yaml", "a: [")
    write(tmp_path, "c.yaml", "a: 1")
    with pytest.raises(ScenarioError) as error:
        read(tmp_path)
    assert [problem.split(":")[0].split("/")[-1] for problem in error.value.problems] == [
        "a.yaml",
        "b.yaml",
    ]
