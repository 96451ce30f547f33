"""TensorBoard events: the metrics, and nothing if not wanted or not installed."""

import contextlib
import dataclasses
import importlib.util
import struct

import pytest

from train.log.recorder import Events, Recorder
from train.save.description import Progress
from train.save.folder import RunFolder

RECORD = {"superstep": 0, "env_steps": 512, "return": 1.5, "length": None, "episodes": 3}


def read(path):
    """(step, name, value) of every scalar: a file of events is a row of length, checksum, message, checksum."""
    event_pb2 = pytest.importorskip("tensorboardX.proto.event_pb2")
    content, at = path.read_bytes(), 0
    while at < len(content):
        (size,) = struct.unpack_from("<Q", content, at)
        event = event_pb2.Event.FromString(content[at + 12 : at + 12 + size])
        yield from ((event.step, value.tag, value.simple_value) for value in event.summary.value)
        at += size + 16


def test_metrics_become_scalars_over_environment_steps(tmp_path):
    with Events(tmp_path) as events:
        events.write(RECORD)
    (path,) = tmp_path.iterdir()
    assert list(read(path)) == [(512, "return", 1.5), (512, "episodes", 3.0)]


def test_nothing_is_written_if_not_wanted_or_not_installed(config, tmp_path, monkeypatch):
    for is_wanted in (False, True):
        if is_wanted:
            monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
        settings = dataclasses.replace(config, tensorboard=is_wanted)
        with contextlib.ExitStack() as stack:
            recorder = Recorder(stack, settings, RunFolder(tmp_path), Progress(scenarios=""))
            recorder.write(RECORD)
    assert [path.name for path in tmp_path.iterdir()] == ["metrics.jsonl"]
