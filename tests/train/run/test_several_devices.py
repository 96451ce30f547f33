"""Lanes on several devices and processes: the same result, nothing gathered, and a run that moves between them."""

import dataclasses
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from probes import SMALL

from train import processes
from train.log.metrics import read_metrics
from train.processes import place
from train.run.runner import RunFolder
from train.save.arrays import digest
from train.settings.config import Config
from train.settings.groups import Network, Rollout

TOLERANCE = 1e-5


def start(*arguments, devices=1, stderr=None, **variables):
    paths = [str(Path(__file__).parent), str(Path(__file__).parents[1]), *sys.path]
    given = {"PYTHONPATH": os.pathsep.join(paths), "JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": str(devices)}
    command = [sys.executable, "-m", "several_devices", *map(str, arguments)]
    given = {**os.environ, **given, **variables}
    return subprocess.Popen(command, env=given, stdout=subprocess.PIPE, stderr=stderr, text=True)


def result(child):
    output, _ = child.communicate(timeout=300)
    assert child.returncode == 0
    return json.loads(output.splitlines()[-1])


def begin(path, number, *arguments, **variables):
    """Processes with two devices each that train one run."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        address = f"localhost:{free.getsockname()[1]}"
    common = {"JAX_COORDINATOR_ADDRESS": address, "JAX_NUM_PROCESSES": str(number)}
    return [
        start("join", path, *arguments, devices=2, JAX_PROCESS_ID=str(n), **common, **variables) for n in range(number)
    ]


def join(path, number, *arguments):
    """The results of such processes."""
    return [result(child) for child in begin(path, number, *arguments)]


@pytest.fixture(scope="module")
def compared(compiled):
    return result(start("compare", devices=4, JAX_COMPILATION_CACHE_DIR=str(compiled)))


@pytest.mark.slow
def test_the_result_does_not_depend_on_the_number_of_devices(compared):
    assert compared["4 devices"] < TOLERANCE
    assert compared["2 lanes"] > 100 * TOLERANCE  # but on the number of lanes: the test can tell results apart


@pytest.mark.slow
def test_parts_of_a_gradient_replay_buffers_and_statistics_do_not_change_it_either(compiled):
    """Each lane has its own buffer; statistics are those of all lanes."""
    found = result(start("compare_others", devices=4, JAX_COMPILATION_CACHE_DIR=str(compiled)))
    assert found["in parts"] < TOLERANCE
    assert found["replay"] < TOLERANCE
    assert found["normalized"] < TOLERANCE


@pytest.mark.slow
def test_nor_does_what_a_network_remembers(compiled):
    found = result(start("compare_memory", devices=4, JAX_COMPILATION_CACHE_DIR=str(compiled)))
    assert found["memory"] < TOLERANCE


def test_samples_never_leave_their_device(compared):
    assert compared["collectives"] == ["all-reduce"]


@pytest.mark.slow
def test_a_run_goes_on_with_another_number_of_devices(tmp_path):
    assert result(start("resume", tmp_path, devices=4))["resumed"] < TOLERANCE


@pytest.mark.slow
def test_two_processes_train_one_run(tmp_path):
    first, second = join(tmp_path / "run", 2)
    (alone,) = join(tmp_path / "alone", 1)
    assert (first["devices"], second["devices"], alone["devices"]) == (4, 4, 2)
    for a, b, c in zip(first["weights"], second["weights"], alone["weights"], strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(a, c, atol=TOLERANCE)
    assert len(list(read_metrics(RunFolder(tmp_path / "run").metrics))) == 2


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder and the weights of an uninterrupted run of two processes, with two checkpoints."""
    path = tmp_path_factory.mktemp("whole") / "run"
    return path, join(path, 2, 3)[0]["weights"]


@pytest.mark.slow
@pytest.mark.parametrize("killed", [0, 1])
def test_a_run_of_which_one_process_is_killed_goes_on_to_the_same_bits(whole, tmp_path, killed):
    """Right after a checkpoint. JAX ends the other process, which waits for it, within about a minute."""
    children = begin(tmp_path / "run", 2, 3, killed)
    for child in children:
        child.communicate(timeout=200)
    assert children[killed].returncode == -signal.SIGKILL
    assert children[1 - killed].returncode != 0
    assert [each["weights"] for each in join(tmp_path / "run", 2, 3)] == [whole[1]] * 2


@pytest.mark.slow
def test_damage_to_a_checkpoint_of_two_processes_is_found(whole, tmp_path):
    """By one process and by two: of an array that both have, and of one that is shared out."""
    checkpoints = RunFolder(whole[0]).checkpoints
    newest = max(checkpoints.iterdir(), key=lambda path: int(path.name))
    info = json.loads((newest / "run/metadata").read_text())
    for number, changed in enumerate(("updates", "lanes.key"), start=1):
        shutil.copytree(whole[0], path := tmp_path / f"run{number}")
        rest = {**info, "digests": {**info["digests"], changed: "0" * 64}}
        rest["digest"] = digest({each: value for each, value in rest.items() if each != "digest"})
        (path / "checkpoints" / newest.name / "run/metadata").write_text(json.dumps(rest))
        for child in begin(path, number, 4, stderr=subprocess.STDOUT):
            output, _ = child.communicate(timeout=300)
            assert child.returncode == 0
            assert f"{changed} is not what was written); in its place superstep 2 is resumed" in output


@pytest.mark.parametrize(
    ("rollout", "devices", "lanes"),
    [(Rollout(num_envs=12, num_steps=5), 1, 1), (Rollout(num_envs=12, num_steps=5, lanes=4), 1, 4)],
)
def test_lanes_are_placed(rollout, devices, lanes):
    config, placed = place(Config(env="any", rollout=rollout))
    assert (placed.mesh, config.rollout.num_lanes) == (None, lanes)


def test_lanes_have_whole_sequences_of_a_recurrent_core():
    for core, lanes in (("none", 64), ("gru", 8)):
        sizes = Rollout(num_envs=64, num_steps=64, minibatch_size=512)
        config = Config(env="any", rollout=sizes, network=Network(core=core))
        assert processes._most_lanes(config, 128) == lanes
        config.replace(rollout=dataclasses.replace(sizes, lanes=lanes))


@pytest.mark.parametrize(("devices", "lanes", "other"), [(3, 8, 2), (8, 4, 4), (5, 7, 1)])
def test_devices_that_do_not_divide_the_lanes_are_refused(devices, lanes, other):
    sizes = Rollout(num_envs=8 * lanes, num_steps=8, minibatch_size=8 * lanes, lanes=lanes)
    message = rf"--devices {devices}: {lanes} lanes cannot be .* choose --devices {other}, or a number of lanes that"
    with pytest.raises(ValueError, match=message):
        place(Config(env="any", rollout=sizes, devices=devices))
    config, placed = place(Config(env="any", rollout=sizes, devices=1))
    assert (placed.mesh, config.rollout.num_lanes) == (None, lanes)


def test_too_many_devices_are_refused():
    with pytest.raises(ValueError, match=r"--devices 64: there are \d+ \(cpu\)"):
        place(Config(env=SMALL.env, devices=64))
