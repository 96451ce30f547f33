"""Mutants of what jaxenv saves, and every one that was ever neither refused nor loaded as it should be."""

import collections
import gc
import importlib
import itertools
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from lab.fuzz import banks, checkpoints, datasets, policies, run_folders
from lab.fuzz.command import TARGETS, main
from lab.fuzz.edits import mutants
from lab.fuzz.judging import Fault, answered, check_sentence, run, stopped

# Files of a checkpoint have random names.
MUTANTS = {policies: 70, banks: 56, datasets: 60, checkpoints: 84, run_folders: 15}


@pytest.mark.slow
@pytest.mark.parametrize("target", MUTANTS, ids=lambda target: target.__name__)
def test_mutants_are_loaded_or_refused(target: ModuleType, tmp_path: Path) -> None:
    answers: collections.Counter = collections.Counter()
    for each in run(target.judge, itertools.islice(mutants(target.DAMAGES, 5), MUTANTS[target]), tmp_path):
        assert not each.fault, (each.kind, each.message)
        answers[each.answer] += 1
    gc.collect()  # failed tasks of TensorStore, which log an error where they are collected
    assert answers["refused"]
    assert answers["loaded"]


@pytest.mark.parametrize("target", [policies, banks], ids=lambda target: target.__name__)
def test_a_seed_gives_the_same_mutants(target: ModuleType) -> None:
    first, again, other = (
        [m.content for _, m in itertools.islice(mutants(target.DAMAGES, seed), 9)] for seed in (3, 3, 4)
    )  # fmt: skip
    assert first == again != other


def policy(**changed: Any) -> policies.Mutant:
    """The original with other fields, under a checksum of its own."""
    return policies._packed({**policies._record(), **changed}, is_sealed=True)


def weights(change: Callable[[np.ndarray], Any]) -> policies.Mutant:
    """The original with one other array."""
    found = policies._record()["weights"]
    head = found["params"]["value_head"]
    head["kernel"] = change(head["kernel"])
    return policy(weights=found)


POLICIES: dict[str, tuple[policies.Mutant, str]] = {
    "keys of several types": (
        policies._packed({**policies._record(), "weights": {"a": 1, 3: 2}}, is_sealed=False),
        "it is not what was written",
    ),
    "an array in the settings": (policy(params={"call_rate": np.zeros(3)}), "it is not what was written"),
    "a name that cannot be printed": (policy(env="\x1b[31m"), "its 'env' is '\\x1b[31m'"),
    "a name of 200,000 characters": (policy(env="x" * 200_000), "its 'env' is 'xxx"),
    "an algorithm that is a list": (policy(algorithm=["ppo"]), "its 'algorithm' is"),
    "a best return that is a text": (policy(validation_return="1"), "its 'validation_return' is '1'"),
    "a best return that is not a number": (policy(validation_return=float("nan")), "its 'validation_return' is 'nan'"),
    "a field that is not known": (policy(dagest="0"), "or from a later version: it has 'dagest'"),
    "settings of 200,000 characters": (policy(network={"activation": "y" * 200_000}), "activation is 'yyy"),
    "weights of 64 bits": (weights(lambda x: x.astype(np.float64)), "kernel is float64[4, 1] there and float32[4, 1]"),
    "weights that are truth values": (weights(lambda x: x > 0), "kernel is bool[4, 1] there"),
    "weights that are a list": (weights(lambda x: x.tolist()), "kernel is of type list there"),
    "a thousand shapes": (
        policy(weights={f"x{n}": np.zeros(n) for n in range(1000)}),
        "x0 is float64[0] there and nothing",
    ),
}


def bank(name: str, change: Callable[[Any], Any], *, sealed: bool = True, env: str = "LifeOps-v0") -> banks.Mutant:
    """The original with one other array, under a fingerprint of its own if it is sealed."""
    if sealed:
        arrays = banks.original(env)[1]
        return banks._sealed(env, {**arrays, name: change(arrays[name])})
    members = banks._members(env)
    return banks.Mutant(env, banks.packed({**members, name: change(members[name])}))


def plus(own: float, filler: float) -> Callable[[np.ndarray], np.ndarray]:
    """Adds to both columns of a table of starts."""
    return lambda table: table + np.array([own, filler], table.dtype)


def lzma() -> banks.Mutant:
    """LZMA with a byte of a member changed."""
    content = bytearray(banks.packed(banks._members("LifeOps-v0"), compression=zipfile.ZIP_LZMA))
    content[120:140] = bytes(20)
    return banks.Mutant("LifeOps-v0", bytes(content))


OPEN_HEADER = b"\x93NUMPY\x01\x00\x0a\x00{'descr': "
BANKS: dict[str, tuple[Callable[[], banks.Mutant], str]] = {
    "members without .npy": (
        lambda: banks.Mutant("LifeOps-v0", banks.packed(banks._members("LifeOps-v0"), suffix="")), "which is no array",
    ),
    "a header that does not end": (lambda: bank("start_table", lambda _: OPEN_HEADER, sealed=False), "not a scenario"),
    "LZMA that is damaged": (lzma, "is not a scenario bank"),
    "text in a table": (lambda: bank("shared", lambda x: np.full(9, "a"), sealed=False, env="TeamsClone-v0"), "<U1"),
    "bytes in another order": (lambda: bank("start_table", lambda x: x.astype(">f4"), sealed=False), "is of >f4"),
    "a long fingerprint": (lambda: bank("fingerprint", lambda _: np.array("x" * 10**5), sealed=False), "was changed"),
    "fingerprints": (lambda: bank("fingerprint", lambda x: np.array([x] * 3), sealed=False), "was changed"),
    "starts beyond the bank": (lambda: bank("start_table", plus(0, 12)), "start_table that is not one of 12"),
    "starts between two": (lambda: bank("start_table", plus(0, 0.5)), "start_table that is not one"),
    "starts that are not numbers": (lambda: bank("start_table", lambda x: x * np.nan), "start_table that is not one"),
    "too few starts": (lambda: bank("start_table", lambda x: x[:-1]), "start_table that is not one"),
    "more than all": (lambda: bank("start_table", plus(1, 0)), "start_table that is not one"),
    "a table that is not finite": (
        lambda: bank("shared", lambda x: x + np.float32(np.inf), env="TeamsClone-v0"), "`shared` that are not finite",
    ),
}  # fmt: skip


def described(change: Callable[[dict[str, Any]], Any], *, sealed: bool = True) -> checkpoints.Mutant:
    """The newest checkpoint with another description, under a checksum of its own if it is sealed."""

    def edit(root: Path) -> None:
        path = root / "8/run/metadata"
        info = change(json.loads(path.read_text("utf-8")))
        if isinstance(info, dict) and sealed:
            info["digest"] = checkpoints.digest({name: value for name, value in info.items() if name != "digest"})
        path.write_text(json.dumps(info), "utf-8")

    return checkpoints.Mutant((edit,))


def exchanged(root: Path) -> None:
    """The checkpoints under the numbers of each other."""
    (root / "8").rename(root.parent / "aside")
    (root / "3").rename(root / "8")
    (root.parent / "aside").rename(root / "3")


def without(*names: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A change that leaves entries out."""
    return lambda info: {name: value for name, value in info.items() if name not in names}


PASSED_OVER: dict[str, checkpoints.Mutant] = {
    "a description that is a text": described(lambda _: "x"),
    "of another step": described(lambda info: {**info, "superstep": 3}),
    "a count that is a list": described(lambda info: {**info, "superstep": [8]}),
    "a count that is not whole": described(lambda info: {**info, "env_steps": 0.5}),
    "a time that is none": described(lambda info: {**info, "seconds": None}),
    "checksums of other arrays": described(lambda info: {**info, "digests": {"x": "0"}}),
    "no checksum": described(without("digest"), sealed=False),
    "no checksums of arrays": described(without("digests")),
    "no checksums of arrays, of several processes": described(
        lambda info: {**without("digests")(info), "processes": 2}
    ),
    "checksums of several processes": described(lambda info: {**info, "processes": 2}),
    "checksums of no arrays": described(lambda info: {**info, "digests": {}}),
    "a number of processes that is none": described(lambda info: {**without("digests")(info), "processes": "2"}),
    "shapes that are a list": described(lambda info: {**info, "shapes": []}),
}
SETTINGS: dict[str, tuple[Any, str]] = {
    "a list": ([], "expected settings by name"),
    "an environment that is not known": ({"env": "\x1b"}, "config.json names the environment '\\x1b'"),
    "an argument that is not known": ({"env": "LifeOps-v0", "env_args": {"x": 1}}, "takes no argument 'x'"),
    "a property": ({"env": "LifeOps-v0", "num_updates": 3}, "no setting 'num_updates'"),
    "a long text": ({"env": "LifeOps-v0", "seed": "y" * 200_000}, "seed is 'yyy"),
}
NESTED: dict[str, bytes] = {
    "lists": b"[" * 200_000,
    "mappings": b'{"a":' * 200_000,
    "lists that end": b'{"env_args": {"x": ' + b"[" * 700 + b"]" * 700 + b"}}",
    "mappings that end": b'{"env_args": ' + b'{"x": ' * 700 + b"1" + b"}" * 701,
    "levels of which one is too many": b"[" * 21 + b"]" * 21,
}
RECORDS = [
    "{}",
    '{"superstep": true}',
    '{"superstep": 1, "return": "x"}',
    '{"superstep": 1, "return": 1' + 40 * "0" + "}",
]


@pytest.mark.parametrize("name", POLICIES)
def test_policies_refused_now(name: str, tmp_path: Path) -> None:
    mutant, words = POLICIES[name]
    message = policies.judge(mutant, tmp_path)
    assert words in message, message


@pytest.mark.parametrize("name", BANKS)
def test_banks_refused_now(name: str, tmp_path: Path) -> None:
    mutant, words = BANKS[name]
    message = banks.judge(mutant(), tmp_path)
    assert words in message, message


@pytest.mark.parametrize("name", PASSED_OVER)
def test_checkpoints_passed_over_now(name: str, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="in its place superstep 3 is resumed"):
        assert checkpoints.restore(PASSED_OVER[name].write(tmp_path))[1].superstep == 3


def test_checkpoints_under_other_numbers_are_damaged(tmp_path: Path) -> None:
    assert "does not describe its run" in checkpoints.judge(checkpoints.Mutant((exchanged,)), tmp_path)


def test_a_checkpoint_that_cannot_be_listed_is_told(tmp_path: Path) -> None:
    def edit(root: Path) -> None:
        path = root / "8/_CHECKPOINT_METADATA"
        path.write_bytes(path.read_bytes().replace(b"performance", b"perfkrmance").replace(b"commit_t", b"commit_s"))

    message = checkpoints.judge(checkpoints.Mutant((edit,)), tmp_path)
    assert "checkpoints has a damaged checkpoint: move it elsewhere" in message


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_refused_now(name: str, tmp_path: Path) -> None:
    settings, words = SETTINGS[name]
    message = run_folders.judge(run_folders.Mutant({"config.json": json.dumps(settings).encode()}), tmp_path)
    assert words in message, message


@pytest.mark.parametrize("name", NESTED)
def test_nested_settings_are_refused(name: str, tmp_path: Path) -> None:
    message = run_folders.judge(run_folders.Mutant({"config.json": NESTED[name]}), tmp_path)
    assert "config.json does not hold the settings of a run: m" in message, message  # more than 20 levels, or maximum …


def test_settings_of_many_bytes_are_refused(tmp_path: Path) -> None:
    message = run_folders.judge(run_folders.Mutant({"config.json": b" " * 1_000_001}), tmp_path)
    assert message.endswith("config.json does not hold the settings of a run: more than 1000000 bytes")


@pytest.mark.parametrize("line", RECORDS)
def test_records_refused_now(line: str, tmp_path: Path) -> None:
    message = run_folders.judge(run_folders.Mutant({"metrics.jsonl": f"{line}\n".encode()}), tmp_path)
    assert "metrics.jsonl, line 1: expected a record" in message


def test_the_judges_find_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = weights(lambda x: x + 1)
    with pytest.raises(Fault, match="other weights"):
        policies.judge(kernel._replace(is_sealed=False), tmp_path)
    changed = bank("start_table", lambda x: x * np.float32([0.5, 1]))
    with pytest.raises(Fault, match="start_table is not what was saved"):
        banks.judge(changed._replace(arrays=None), tmp_path)
    checkpoints._original()  # is written as it should be
    monkeypatch.setattr(checkpoints, "progress", lambda step: None)
    with pytest.raises(Fault, match="it goes on from"):
        checkpoints.judge(checkpoints.Mutant(()), tmp_path)


def test_what_is_no_sentence_is_found() -> None:
    for message, words in (("a: b", "without its file"), ("f: a\nb", "printed"), ("f" * 1500, "a sentence of 1500")):
        with pytest.raises(Fault, match=words):
            check_sentence(message, "f" if "f" in message else "file")


def test_what_takes_long_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Fault, match="answered after"), answered(-1.0):
        pass
    clock = iter((0.0, 60.0))
    monkeypatch.setattr("lab.fuzz.judging.time.monotonic", lambda: next(clock))
    with pytest.raises(Fault, match="no answer after 60 s"), stopped():
        pass  # as where something caught the Fault of the alarm


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("lab.fuzz.command.limit_memory", lambda: None)  # which would hold for all tests that follow
    assert main(["policies", "--mutants", "7", "--seed", "3"]) == 0
    table = capsys.readouterr().out
    assert "| all | 7 |" in table
    assert all(f"| {kind} | 1 |" in table for kind in policies.DAMAGES)
    monkeypatch.setattr(policies, "judge", lambda *_: 1 / 0)
    assert main(["policies", "--mutants", "1", "--keep", str(tmp_path)]) == 1
    assert "policies 0 0 flipped: ZeroDivisionError" in capsys.readouterr().out
    assert "ZeroDivisionError" in (tmp_path / "policies_0_0/fault.txt").read_text()
    assert (tmp_path / "policies_0_0/policy.msgpack").read_bytes() == next(mutants(policies.DAMAGES, 0))[1].content


def test_targets_have_what_the_command_asks_of_them() -> None:
    for name in TARGETS:
        target = importlib.import_module(f"lab.fuzz.{name}")
        assert next(mutants(target.DAMAGES, 0))[0] == next(iter(target.DAMAGES))
