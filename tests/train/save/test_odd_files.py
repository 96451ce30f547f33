"""A pipe, a device or gigabytes instead of a file of a run: refused at once, by a sentence that names the file."""

import dataclasses
import os
import resource
import sys
import types

import jax.numpy as jnp
import numpy as np
import pytest
from probes import SMALL

from train.cli import options
from train.cli.policies import sha256
from train.log.metrics import MetricsWriter, read_metrics
from train.log.recorder import WeightsAndBiases
from train.protocol import Score
from train.run.outputs import BestPolicy
from train.save.checkpoint import CheckpointError, Checkpoints
from train.save.description import Progress
from train.save.folder import RunFolder
from train.save.orbax_manager import MAX_DESCRIPTION
from train.save.policy_file import PolicyError, read_header


def pipe(path):
    os.mkfifo(path)


def device(path):
    path.symlink_to("/dev/zero")


def endless(path):
    with path.open("wb") as file:
        file.truncate(2**40)


ODD = {pipe: "not a regular file", device: "not a regular file", endless: "more than"}


@pytest.fixture(params=ODD, ids=lambda put: put.__name__)
def odd(request):
    """(puts something odd instead of a file, what is said of it); nothing may take a gigabyte for it."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield request.param, ODD[request.param]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**20


def test_settings(tmp_path, odd):
    put, problem = odd
    put(tmp_path / "config.json")
    with pytest.raises(ValueError, match=rf"^{tmp_path}/config.json does not hold .*: {problem}"):
        options.parse("ppo", ["--resume", str(tmp_path)])


def test_metrics(tmp_path, odd):
    put, problem = odd
    put(path := tmp_path / "metrics.jsonl")
    for read in (MetricsWriter, lambda path: list(read_metrics(path))):
        with pytest.raises(ValueError, match=rf"^{path} is {problem}"):
            read(path)


def test_a_policy(tmp_path, odd):
    put, problem = odd
    put(path := tmp_path / "policy.msgpack")
    for read in (read_header, lambda path: BestPolicy(path, lambda *_: None, None)):
        with pytest.raises(PolicyError, match=rf"^{path} is not a policy file: it is {problem}"):
            read(path)
    with pytest.raises(ValueError, match=problem):
        sha256(path)


def test_the_id_of_weights_and_biases(tmp_path, odd, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", types.SimpleNamespace(init=lambda **_: pytest.fail("it begins")))
    put, problem = odd
    put(path := tmp_path / "wandb_id")
    told = f"^{path} does not hold the id of a run of Weights & Biases: "
    with pytest.raises(ValueError, match=rf"{told}{problem}"):
        WeightsAndBiases(tmp_path, dataclasses.replace(SMALL, wandb="days"))
    path.unlink()
    path.write_bytes(b"\xff")
    with pytest.raises(ValueError, match=rf"{told}.*can't decode"):
        WeightsAndBiases(tmp_path, dataclasses.replace(SMALL, wandb="days"))


@pytest.mark.parametrize("put", [pipe, device])
def test_what_was_measured(tmp_path, put):
    put(path := tmp_path / "PPO.npz")
    with pytest.raises(ValueError, match=rf"^{path} is not a regular file"):
        Score.load(path)


def test_what_was_measured_is_something_else(tmp_path):
    path = tmp_path / "PPO.npz"
    np.savez(tmp_path / "other.npz", returns=np.zeros(3))
    np.save(tmp_path / "one.npy", np.zeros(3))
    for content in (b"", b"words", b"PK\x03\x04 half", *(each.read_bytes() for each in tmp_path.glob("*.np?"))):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=rf"^{path} does not hold what was measured"):
            Score.load(path)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The checkpoints of a run, of superstep 9 and 10."""
    path = RunFolder(tmp_path_factory.mktemp("run")).checkpoints
    with Checkpoints(path, SMALL) as checkpoints:
        for superstep in (9, 10):
            checkpoints.save({"weights": jnp.ones(3)}, Progress(superstep=superstep, scenarios=""))
    return path


PARTS = ("run/metadata", "_CHECKPOINT_METADATA", "state/_METADATA", "state/manifest.ocdbt", "state/d/extra", "extra")


@pytest.mark.parametrize("name", PARTS)
def test_a_checkpoint(saved, name, odd):
    put, problem = odd
    if put is endless and name == "state/d/extra":  # which may be arrays
        return
    path = saved / "10" / name
    content = path.read_bytes() if path.exists() else None
    path.unlink(missing_ok=True)
    put(path)
    with pytest.raises(CheckpointError, match=rf"^{path} is {problem}.*: move {saved}/10 elsewhere to resume$"):
        Checkpoints(saved, SMALL)
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with Checkpoints(saved, SMALL) as checkpoints:
        assert checkpoints.newest().superstep == 10


def test_something_odd_beside_checkpoints(saved):
    pipe(saved / "pipe")
    with pytest.raises(CheckpointError, match=rf"^{saved}/pipe is not .*: move {saved}/pipe elsewhere to resume$"):
        Checkpoints(saved, SMALL)
    (saved / "pipe").unlink()


def test_links_within_checkpoints(saved, tmp_path):
    """To files, to nothing and to a folder above are no pipes."""
    (tmp_path / "metadata").write_bytes((saved / "10/run/metadata").read_bytes())
    (saved / "10/run/metadata").unlink()
    (saved / "10/run/metadata").symlink_to(tmp_path / "metadata")
    (saved / "10/run/nothing").symlink_to(tmp_path / "nothing")
    (saved / "10/run/above").symlink_to(saved)
    with Checkpoints(saved, SMALL) as checkpoints:
        assert checkpoints.newest().superstep == 10
    assert MAX_DESCRIPTION == 64 * 2**20
