"""What a file says reaches a terminal cut, without escape sequences, and with the name of the file."""

import json

import pytest
from flax import serialization

import jaxenv
from train.cli.comparison import training_note
from train.cli.main import main
from train.save.arrays import digest
from train.save.folder import RunFolder
from train.save.policy_file import PolicyError, read_header
from train.save.writing import written_by

STEERING = "\x1b[2J"


def test_names_and_values(tmp_path):
    assert STEERING not in written_by({"version": STEERING})
    env, _ = jaxenv.make("LifeOps-v0")
    note = training_note({f"{STEERING}{number}": "x" * 10**6 for number in range(99)}, env)
    assert STEERING not in note
    assert len(note) < 3000
    assert note.endswith(" and 87 more")
    path = tmp_path / "policy.msgpack"
    path.write_bytes(serialization.msgpack_serialize({"format": f"jaxenv policy {STEERING}{'x' * 10**6}"}))
    with pytest.raises(PolicyError, match=rf"^{path} has another format \('jaxenv policy \\x1b") as told:
        read_header(path)
    assert len(str(told.value)) < 500


def test_settings(tmp_path, capsys):
    settings = {"env": "LifeOps-v0", "network": {"module": STEERING + "x" * 10**4, "hidden": [8]}}
    RunFolder(tmp_path).config.write_text(json.dumps(settings))
    assert main(["ppo", "--resume", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"jaxenv: {tmp_path}/config.json does not hold the settings of a run: ")
    assert STEERING not in told
    assert len(told) < 1000


def test_a_policy_for_an_environment_that_cannot_be_made(tmp_path, capsys):
    record = {"format": "jaxenv policy 1", "version": "0.1.0", "env": "LifeOps-v0", "env_args": {STEERING: 1}}
    record |= {"params": {}, "network": {}, "scenarios": "", "weights": {}}
    path = tmp_path / "policy.msgpack"
    path.write_bytes(serialization.msgpack_serialize({**record, "digest": digest(record, empty=True)}))
    assert main(["evaluate", str(path)]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"jaxenv: {path} was trained in another task: LifeOps-v0 takes no argument '\\x1b[2J'")
    assert STEERING not in told


def test_names_of_files(tmp_path, capsys):
    (tmp_path / f"{STEERING}.yaml").write_text("x: 1")
    for line in (["scenarios", "check", str(tmp_path)], ["evaluate", str(tmp_path / STEERING)]):
        assert main(line) in (1, 2)
        assert STEERING not in (told := capsys.readouterr().err)
        assert "\\x1b[2J" in told
