"""Nothing in a run folder is followed when a run writes there: a link is replaced, or refused where it is a folder."""

import dataclasses
import socket
import sys
import types

import pytest
from probes import GENERATED, PROBES, run_alone

from train import ppo
from train.log import plots
from train.log.metrics import MetricsWriter
from train.log.recorder import Events, WeightsAndBiases
from train.run.job import prepare
from train.save import folder as run_folder
from train.save.checkpoint import Checkpoints
from train.save.writing import Lines, NotWritten, make_folder, write_atomic

NAMES = ("config.json", "metrics.jsonl", "policy.msgpack", "policy_best.msgpack", "learning_curve.png")


@pytest.fixture
def strange(tmp_path):
    """A folder of somebody else, with a file."""
    folder = tmp_path / "strange"
    folder.mkdir()
    (folder / "file").write_bytes(b"theirs")
    yield folder
    assert [(each.name, each.read_bytes()) for each in folder.iterdir()] == [("file", b"theirs")]


@pytest.mark.slow
def test_a_run_replaces_links(env, tmp_path, strange):
    config = dataclasses.replace(GENERATED, total_steps=GENERATED.steps_per_superstep, run_dir=tmp_path / "run")
    folder = run_folder.create(config)
    folder.config.unlink()
    for name in (*NAMES, "checkpoints.begun"):
        (folder.path / f"{name}.unfinished").symlink_to(strange / "file")
        (folder.path / name).symlink_to(strange / name)
    run_alone(prepare(ppo, config, env, PROBES["observation"]), folder, show_progress=False)
    if plots.is_possible():
        plots.learning_curves([folder], folder.learning_curve)
        assert not folder.learning_curve.is_symlink()
    assert not [path for path in folder.path.iterdir() if path.is_symlink() and path != folder.learning_curve]


@pytest.mark.parametrize("name", ["", ".unfinished"])
def test_a_file_is_written_in_the_place_of_a_link(tmp_path, strange, name):
    (tmp_path / f"mine{name}").symlink_to(strange / "file")
    write_atomic(tmp_path / "mine", b"mine")
    assert (tmp_path / "mine").read_bytes() == b"mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "strange"]


def test_lines_go_into_no_link(tmp_path, strange):
    for target in ("file", "new"):
        (tmp_path / target).symlink_to(strange / target)
        with pytest.raises(NotWritten, match=rf"^cannot write {tmp_path}/{target}: Too many levels of symbolic links$"):
            Lines(tmp_path / target)
    with MetricsWriter(tmp_path / "new") as metrics:
        metrics.write({"superstep": 0})
    assert not (tmp_path / "new").is_symlink()


def test_nobody_knows_the_name_of_an_event_file_before(tmp_path, strange, monkeypatch):
    writer = pytest.importorskip("tensorboardX.event_file_writer")
    monkeypatch.setattr(writer, "time", types.SimpleNamespace(time=lambda: 1e9))
    (tmp_path / f"events.out.tfevents.1000000000.{socket.gethostname()}").symlink_to(strange / "file")
    with Events(tmp_path) as events:
        events.write({"superstep": 0, "env_steps": 1, "return": 1.0})


def test_a_link_is_no_folder_of_a_run(tmp_path, strange, config, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", types.SimpleNamespace(init=lambda **_: pytest.fail("it begins")))
    for name in ("checkpoints", "member", "wandb"):
        (tmp_path / name).symlink_to(strange)
    for name, write in {
        "checkpoints": lambda path: Checkpoints(path, config),
        "member": make_folder,
        "wandb": lambda path: WeightsAndBiases(path.parent, dataclasses.replace(config, wandb="days")),
    }.items():
        with pytest.raises(NotWritten, match=rf"^cannot write {tmp_path}/{name}: it is a link; a run writes only into"):
            write(tmp_path / name)
