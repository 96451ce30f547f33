"""Lanes on several devices and processes: the same result, nothing gathered, and a run that moves between them."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from probes import SMALL

from train.log.metrics import read_metrics
from train.processes import place
from train.run.runner import RunFolder
from train.settings.config import Config
from train.settings.groups import Rollout

TOLERANCE = 1e-5


def start(*arguments, devices=1, **variables):
    paths = [str(Path(__file__).parent), str(Path(__file__).parents[1]), *sys.path]
    given = {"PYTHONPATH": os.pathsep.join(paths), "JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": str(devices)}
    command = [sys.executable, "-m", "several_devices", *map(str, arguments)]
    return subprocess.Popen(command, env={**os.environ, **given, **variables}, stdout=subprocess.PIPE, text=True)


def result(child):
    output, _ = child.communicate(timeout=300)
    assert child.returncode == 0
    return json.loads(output.splitlines()[-1])


def join(path, number):
    """The results of processes with two devices each."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        address = f"localhost:{free.getsockname()[1]}"
    common = {"JAX_COORDINATOR_ADDRESS": address, "JAX_NUM_PROCESSES": str(number)}
    children = [start("join", path, devices=2, JAX_PROCESS_ID=str(n), **common) for n in range(number)]
    return [result(child) for child in children]


@pytest.fixture(scope="module")
def compared(compiled):
    return result(start("compare", devices=4, JAX_COMPILATION_CACHE_DIR=str(compiled)))


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


@pytest.mark.parametrize(
    ("rollout", "devices", "lanes"),
    [(Rollout(num_envs=12, num_steps=5), 1, 1), (Rollout(num_envs=12, num_steps=5, lanes=4), 1, 4)],
)
def test_lanes_are_placed(rollout, devices, lanes):
    config, placed = place(Config(env="any", rollout=rollout))
    assert (placed.mesh, config.rollout.num_lanes) == (None, lanes)


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
