"""What is written is on the disk before what relies on it: contents before names, metrics before checkpoints."""

import dataclasses
import errno
import os
from pathlib import Path

import pytest
from probes import GENERATED, PROBES, run_alone

from train import ppo
from train.run.job import prepare
from train.save import folder as run_folder
from train.save.checkpoint import Checkpoints
from train.save.writing import Lines, NotWritten, write_atomic

PARAMS = PROBES["observation"]


@pytest.fixture
def calls(monkeypatch):
    """What is asked of the disk, in order: (`sync`, path) and (`replace`, name, name)."""
    asked = []
    fsync, replace = os.fsync, os.replace

    def sync(handle):
        fsync(handle)
        path = Path(f"/proc/self/fd/{handle}").readlink()
        asked.append(("sync", path.name, path.stat().st_size if path.is_file() else None))

    def rename(source, target):
        replace(source, target)
        asked.append(("replace", Path(source).name, Path(target).name))

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", rename)
    return asked


def test_a_file_is_on_the_disk_before_its_name_is_and_then_the_name(tmp_path, calls):
    write_atomic(tmp_path / "file", b"content")
    assert calls == [
        ("sync", "file.unfinished", 7),
        ("replace", "file.unfinished", "file"),
        ("sync", tmp_path.name, None),
    ]


def test_a_folder_that_cannot_be_synced_is_no_error(tmp_path, monkeypatch):
    def fsync(handle):
        if Path(f"/proc/self/fd/{handle}").readlink().is_dir():
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    monkeypatch.setattr(os, "fsync", fsync)
    write_atomic(tmp_path / "file", b"content")
    assert (tmp_path / "file").read_bytes() == b"content"


def test_a_file_that_cannot_be_synced_is_not_written(tmp_path, monkeypatch):
    def fsync(handle):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    lines = Lines(tmp_path / "lines")
    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(NotWritten, match=rf"^cannot write {tmp_path}/file: Input/output error$"):
        write_atomic(tmp_path / "file", b"content")
    with pytest.raises(NotWritten, match=rf"^cannot write {tmp_path}/lines: Input/output error$"):
        lines.sync()
    assert [path.name for path in tmp_path.iterdir()] == ["lines"]


def test_metrics_are_on_the_disk_before_a_checkpoint_and_not_after_each_superstep(env, tmp_path, calls, monkeypatch):
    """Of four supersteps with a checkpoint after the second and the last."""
    due = iter([False, True, False, True])
    monkeypatch.setattr(Checkpoints, "is_due", lambda self: next(due))
    save = Checkpoints.save

    def saved(self, state, progress):
        calls.append(("checkpoint", progress.superstep))
        save(self, state, progress)

    monkeypatch.setattr(Checkpoints, "save", saved)
    config = dataclasses.replace(GENERATED, total_steps=4 * GENERATED.steps_per_superstep, run_dir=tmp_path / "run")
    folder = run_folder.create(config)
    run_alone(prepare(ppo, config, env, PARAMS), folder, show_progress=False)
    told = [call[:2] for call in calls if call[0] == "checkpoint" or call[1] == "metrics.jsonl"]
    assert told == [("sync", "metrics.jsonl"), ("checkpoint", 2), ("sync", "metrics.jsonl"), ("checkpoint", 4)]
    assert [call[2] for call in calls if call[1] == "metrics.jsonl"][-1] == folder.metrics.stat().st_size
