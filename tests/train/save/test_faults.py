"""Faults at every moment of a run: whatever happens, what is there is whole, and the run goes on to the same bits."""

import contextlib
import dataclasses
import errno
import json
import os
import resource
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import GENERATED, PROBES, run_alone

from jaxenv.host import regular_files
from train import ppo
from train.log.metrics import read_metrics
from train.run.job import prepare
from train.save import folder as run_folder
from train.save.arrays import by_name
from train.save.checkpoint import Checkpoints
from train.save.description import Progress
from train.save.writing import Lines, NotWritten, write_atomic

PARAMS = PROBES["observation"]
TIMES = ("seconds", "steps_per_second")
OPTIONS = [  # those of `GENERATED`, with a checkpoint after each superstep
    *("ppo", "--env", "Table-v0", "--total-steps", "5120", "--num-envs", "32", "--num-steps", "8"),
    *("--updates-per-superstep", "2", "--minibatch-size", "64", "--epochs", "4", "--hidden", "16"),
    *("--learning-rate", "5e-3", "--entropy-coef", "0.01", "--no-tensorboard", "--checkpoint-every", "0"),
]

OFFER, ADD = "train.run.outputs:BestPolicy.candidate", "train.run.outputs:Member.add"
LINE, SAVE = "train.save.writing:Lines.add", "train.save.checkpoint:Checkpoints.save"
CLOSE, COMPILE = "train.save.checkpoint:Checkpoints.__exit__", "jax:stages.Lowered.compile"
REPLACE, RENAME, BYTES = "os:replace", "os:rename", "jaxenv.host.regular_files:write_synced"

MOMENTS = {  # where the process is killed, one after the other
    "before it has settings": [(REPLACE, "config.json", 1, "before")],
    "writing its settings": [(REPLACE, "config.json", 2, "before")],
    "compiling": [(COMPILE, "", 1, "during")],
    "compiled": [(COMPILE, "", 1, "after")],
    "in the first superstep": [(ADD, "", 1, "during")],
    "in a superstep, which refreshes the bank": [(ADD, "", 4, "during")],
    "in the last superstep": [(ADD, "", 10, "before")],
    "validating": [(OFFER, "", 2, "during")],
    "in the first line of the metrics": [(LINE, "", 1, "half")],
    "in a later line of the metrics": [(LINE, "", 5, "half")],
    "after a line of the metrics": [(LINE, "", 6, "after")],
    "in the best policy": [(BYTES, "policy_best.msgpack.unfinished", 1, "half")],
    "before the best policy is in its place": [(REPLACE, "policy_best.msgpack", 1, "before")],
    "after the best policy is in its place": [(REPLACE, "policy_best.msgpack", 1, "after")],
    "in the policy": [(BYTES, "policy.msgpack.unfinished", 1, "half")],
    "before the policy is in its place": [(REPLACE, "policy.msgpack", 3, "before")],
    "before the last policy": [(BYTES, "policy.msgpack.unfinished", 10, "before")],
    "in the first checkpoint": [(RENAME, "checkpoints/1.orbax-checkpoint-tmp/state", 1, "before")],
    "before the first checkpoint is in its place": [(RENAME, "checkpoints/1", 1, "before")],
    "after the first checkpoint is in its place": [(RENAME, "checkpoints/1", 1, "after")],
    "in a later checkpoint": [(RENAME, "checkpoints/3.orbax-checkpoint-tmp/run", 1, "after")],
    "saving": [(SAVE, "", 5, "during")],
    "before an older checkpoint is removed": [("shutil:rmtree", "checkpoints/1", 1, "before")],
    "while an older checkpoint is removed": [("os:rmdir", "checkpoints/2", 1, "before")],
    "with the last checkpoint pending": [(CLOSE, "", 1, "before")],
    "and again while it resumes": [(LINE, "", 4, "half"), (REPLACE, "metrics.jsonl", 1, "before")],
}


@pytest.fixture(scope="module")
def config():
    return dataclasses.replace(GENERATED, checkpoint_every=0.0)


@pytest.fixture(scope="module")
def whole(config, env, tmp_path_factory):
    """The folder of an uninterrupted run."""
    folder = run_folder.create(dataclasses.replace(config, run_dir=tmp_path_factory.mktemp("whole") / "run"))
    run_alone(prepare(ppo, config, env, PARAMS), folder, show_progress=False)
    return folder


@pytest.fixture
def command(compiled):
    """(faults, arguments) -> the process of a command, once it has ended."""
    paths = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    settings = {**os.environ, "JAX_COMPILATION_CACHE_DIR": str(compiled), "PYTHONPATH": paths}

    def run(faults, *arguments, **options):
        program = [sys.executable, str(Path(__file__).with_name("faulty.py")), json.dumps(faults), *arguments]
        return subprocess.run(program, capture_output=True, text=True, env=settings, check=False, **options)

    return run


def assert_same_run(found, expected):
    """The same policies, to the byte, the same metrics except times, every line whole, and nothing unfinished."""
    assert found.policy.read_bytes() == expected.policy.read_bytes()
    assert found.best_policy.read_bytes() == expected.best_policy.read_bytes()
    assert found.metrics.read_bytes().endswith(b"\n")
    found_records, expected_records = (
        [{name: value for name, value in record.items() if name not in TIMES} for record in read_metrics(each.metrics)]
        for each in (found, expected)
    )
    assert found_records == expected_records
    assert_nothing_unfinished(found)


def assert_nothing_unfinished(folder):
    assert not [path for path in folder.path.rglob("*") if regular_files.UNFINISHED in path.name or "-tmp" in path.name]


@pytest.mark.slow
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_run_killed_at_any_moment_ends_as_if_it_had_not_been(command, whole, tmp_path, moment):
    folder = run_folder.RunFolder(tmp_path / "run")
    begin, resume = [*OPTIONS, "--run-dir", str(folder.path)], ["ppo", "--resume", str(folder.path)]
    for fault in MOMENTS[moment]:
        killed = command([fault], *(resume if folder.config.exists() else begin))
        assert killed.returncode == -9, killed.stdout + killed.stderr
    ended = command([], *(resume if folder.config.exists() else begin))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "Traceback" not in ended.stderr
    assert_same_run(folder, whole)


@pytest.mark.slow
def test_a_second_ctrl_c_while_the_first_one_saves(command, whole, tmp_path):
    folder = run_folder.RunFolder(tmp_path / "run")
    faults = [(ADD, "", 4, "interrupt"), (SAVE, "", 4, "interrupt")]
    stopped = command(faults, *OPTIONS, "--run-dir", str(folder.path))
    assert stopped.returncode == 130, stopped.stdout + stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert f"interrupted; resume with: jaxenv ppo --resume {folder.path}" in stopped.stdout
    assert_nothing_unfinished(folder)
    assert command([], "ppo", "--resume", str(folder.path)).returncode == 0
    assert_same_run(folder, whole)


@contextlib.contextmanager
def limits():
    """(bytes) -> sets the length that files may have; Python ignores the signal of it. At the end, as before.

    No test may end under a limit: what pytest then writes may be such a file.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def fail(config, env, tmp_path, monkeypatch, capfd):
    """(bytes, file) -> the folder of a run that cannot write the file, because of its length."""
    folder = run_folder.create(dataclasses.replace(config, run_dir=tmp_path / "run"))

    def run(size, file):
        if file != "checkpoints":
            monkeypatch.setattr(Checkpoints, "is_due", lambda self: False)

        problem = rf"^cannot write {folder.path}/{file}.*: (File too large|No space left on device)$"
        with limits() as limit:

            def at_the_third(record):
                if record["superstep"] == 2:
                    limit(size) if file != "policy.msgpack" else fail_to_write(monkeypatch, file)

            with pytest.raises(NotWritten, match=problem):
                run_alone(prepare(ppo, config, env, PARAMS), folder, callback=at_the_third, show_progress=False)
        assert_nothing_unfinished(folder)
        assert capfd.readouterr().err == ""
        monkeypatch.undo()
        assert folder.metrics.read_bytes().endswith(b"\n")
        return folder

    return run


def test_where_files_may_not_grow_one_error_names_the_file(config, fail):
    folder = fail(7000, "checkpoints")
    with Checkpoints(folder.checkpoints, folder.read_config()) as checkpoints:
        progress = checkpoints.newest()
        assert progress is not None
        assert progress.superstep in (1, 2, 3)
    assert len(list(read_metrics(folder.metrics))) >= progress.superstep


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "file"), [(900, "metrics.jsonl"), (3000, "checkpoints"), (7000, "checkpoints"), (0, "policy.msgpack")]
)
def test_what_could_not_be_written_is_written_later(config, env, whole, fail, size, file):
    """Whichever part of a run meets the limit: a line, TensorStore, Orbax's JSON, or the policy after the last step."""
    folder = fail(size, file)
    run_alone(prepare(ppo, config, env, PARAMS), folder, show_progress=False)
    assert_same_run(folder, whole)


def fail_to_write(monkeypatch, name):
    """Lets a file get half of its bytes, and says that the disk is full."""
    write_synced = regular_files.write_synced

    def full(path, content):
        if name in path.name:
            write_synced(path, content[: len(content) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write_synced(path, content)

    monkeypatch.setattr(regular_files, "write_synced", full)


def test_a_full_disk_leaves_a_file_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_atomic(path, b"before")
    fail_to_write(monkeypatch, "file")
    with pytest.raises(NotWritten, match=rf"^cannot write {path}: No space left on device$"):
        write_atomic(path, b"after")
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [("file", b"before")]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a device that is always full")
def test_lines_for_a_full_disk():
    with pytest.raises(NotWritten, match=r"^cannot write /dev/full: No space left on device$"):
        Lines(Path("/dev/full")).add("a line\n")


def test_a_line_that_does_not_fit_is_taken_back(tmp_path):
    path = tmp_path / "lines"
    with Lines(path) as lines:
        lines.add("first\n")
        with limits() as limit:
            limit(10)
            with pytest.raises(NotWritten, match="File too large"):
                lines.add("second\n")
        assert path.read_text() == "first\n"
        lines.add("2nd\n")
    assert path.read_text() == "first\n2nd\n"


def test_where_no_folder_can_be_made_the_error_names_it(config, tmp_path):
    """A path below a file, since no permission holds an administrator."""
    (tmp_path / "file").touch()
    for path in (tmp_path / "file" / "run", tmp_path / "file" / "a" / "run"):
        with pytest.raises(NotWritten, match=f"^cannot write {path}: Not a directory$"):
            run_folder.create(dataclasses.replace(config, run_dir=path))
    with pytest.raises(NotWritten, match=f"^cannot write {tmp_path}/file/checkpoints: "):
        Checkpoints(tmp_path / "file" / "checkpoints", config)


@pytest.mark.slow
@pytest.mark.parametrize("size", [900, 3000, 7000])
def test_the_command_says_it_in_one_line(command, whole, tmp_path, size):
    folder = run_folder.RunFolder(tmp_path / "run")
    faults = [(ADD, "", 3, "interrupt")]
    stopped = command(faults, *OPTIONS, "--run-dir", str(folder.path))
    assert stopped.returncode == 130, stopped.stderr

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    failed = command([], "ppo", "--resume", str(folder.path), preexec_fn=limit)
    assert failed.returncode == 2, failed.stderr
    said = [
        line for line in failed.stderr.replace("\r", "\n").splitlines() if line and not line.startswith("Table-v0:")
    ]
    assert len(said) == 1, failed.stderr
    assert said[0].startswith(f"jaxenv: cannot write {folder.path}/")
    assert said[0].endswith(": File too large")
    assert_nothing_unfinished(folder)
    assert command([], "ppo", "--resume", str(folder.path)).returncode == 0
    assert_same_run(folder, whole)


STATE = {"weights": jnp.arange(6.0).reshape(2, 3), "key": jax.random.key(3), "large": jnp.linspace(0.0, 1.0, 10_000)}


@pytest.mark.slow
def test_every_file_of_a_checkpoint_damaged_in_turn(config, tmp_path):
    """Either the numbers are those that were written, or the older checkpoint is taken, and that is said."""
    like = jax.eval_shape(lambda: STATE)
    with Checkpoints(tmp_path / "sound", config) as checkpoints:
        for superstep in (6, 7):
            state = {**STATE, "weights": STATE["weights"] + superstep}
            checkpoints.save(state, Progress(superstep=superstep, scenarios="bank"))
    sound = tmp_path / "sound" / "7"
    names = sorted(str(path.relative_to(sound)) for path in sound.rglob("*") if path.is_file())
    assert len(names) >= 10
    passed_over = set()
    for name in names:
        for damage in (cut, flip, Path.unlink):
            shutil.rmtree(tmp_path / "run", ignore_errors=True)
            shutil.copytree(tmp_path / "sound", tmp_path / "run")
            damage(tmp_path / "run" / "7" / name)
            with Checkpoints(tmp_path / "run", config) as checkpoints, warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                newest = checkpoints.newest()
                assert newest is not None
                found, progress = checkpoints.restore(newest, like, start=newest)
            said = [str(warning.message) for warning in told if "is damaged" in str(warning.message)]
            assert bool(said) == (progress.superstep == 6), (name, damage, said)
            assert all("in its place superstep 6 is resumed" in line and "\n" not in line for line in said)
            expected = {**STATE, "weights": STATE["weights"] + progress.superstep}
            for leaf, array in by_name(found).items():
                np.testing.assert_array_equal(array, by_name(expected)[leaf], err_msg=f"{name}, {damage}")
            passed_over |= {(name, damage)} if said else set()
    assert {damage for _, damage in passed_over} == {cut, flip, Path.unlink}
    assert {"run/metadata", "state/_METADATA"} <= {name for name, _ in passed_over}


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path):
    content = bytearray(path.read_bytes())
    if content:
        content[len(content) // 2] ^= 4
    path.write_bytes(bytes(content))


def test_a_folder_that_was_killed_before_it_had_settings_is_free(config, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.json.unfinished").write_bytes(b"{")
    folder = run_folder.create(dataclasses.replace(config, run_dir=tmp_path / "run"))
    assert sorted(path.name for path in folder.path.iterdir()) == ["config.json"]
