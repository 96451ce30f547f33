"""Processes that do not find each other, or lose one: a sentence and an exit status, within a time that one chooses."""

import os
import re
import socket
import subprocess
import sys

import jax
import pytest

from train.cli import ahead
from train.processes import join

ADDRESS, NUMBER, OWN = "JAX_COORDINATOR_ADDRESS", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID"
WRONG = [
    ({ADDRESS: "localhost"}, "JAX_COORDINATOR_ADDRESS=localhost: expected HOST:PORT of the first process"),
    ({ADDRESS: "h:70000"}, "JAX_COORDINATOR_ADDRESS=h:70000: expected HOST:PORT"),
    ({ADDRESS: "h:1", NUMBER: "abc", OWN: "0"}, "JAX_NUM_PROCESSES=abc: expected a whole number"),
    ({ADDRESS: "h:1", NUMBER: "2", OWN: "-1\x1b"}, r"JAX_PROCESS_ID=-1\x1b: expected a whole number"),
    ({ADDRESS: "h:1", NUMBER: "2", OWN: "2"}, "JAX_PROCESS_ID=2: expected 0 to JAX_NUM_PROCESSES - 1"),
]


@pytest.mark.parametrize(("variables", "told"), WRONG)
def test_a_variable_that_is_none_is_refused_before_anything_begins(monkeypatch, variables, told):
    for name in (ADDRESS, NUMBER, OWN):
        monkeypatch.delenv(name, raising=False)
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    monkeypatch.setattr(jax.distributed, "initialize", lambda **_: pytest.fail("it begins"))
    with pytest.raises(ValueError, match=f"^{re.escape(told)}"):
        join(60)


def test_a_port_that_is_taken_is_told(monkeypatch):
    monkeypatch.setattr(jax.distributed, "initialize", lambda **_: pytest.fail("it begins"))
    with socket.create_server(("localhost", 0)) as taken:
        port = taken.getsockname()[1]
        for name, text in {ADDRESS: f"localhost:{port}", NUMBER: "2", OWN: "0"}.items():
            monkeypatch.setenv(name, text)
        with pytest.raises(OSError, match=rf"in use .*{port}"):
            join(60)


def test_the_time_to_wait(monkeypatch):
    asked = []
    monkeypatch.setattr(ahead, "join", asked.append)
    for words in ([], ["--join-timeout", "1e3"], ["--join_timeout=1000"]):
        ahead.read(["--distributed", *words], "jaxenv ppo", joins=True)
    ahead.read(["--join-timeout", "5"], "jaxenv ppo", joins=True)
    ahead.read(["--distributed"], "jaxenv ppo")
    assert asked == [60, 1000, 1000]
    with pytest.raises(ValueError, match=r"^--join-timeout must be within 1 to 86,400 seconds, got 0$"):
        join(0)


@pytest.mark.slow
def test_processes_that_do_not_meet_end(tmp_path):
    """Where nobody answers, at a host that there is not, and without the second process."""
    with socket.socket() as closed:
        closed.bind(("localhost", 0))
        address = f"localhost:{closed.getsockname()[1]}"
    command = [sys.executable, "-m", "train", "ppo", "--env", "LifeOps-v0", "--distributed", "--join-timeout", "2"]
    places = [(address, "1"), ("nowhere.invalid:1234", "1"), (address, "0")]
    given = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "JAX_PLATFORMS": "cpu", NUMBER: "2"}
    for address, own in places:
        named = {**given, ADDRESS: address, OWN: own}
        ended = subprocess.run(
            command, env=named, capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path
        )
        assert ended.returncode == 2
        assert f": --distributed: the processes did not meet at {ADDRESS}={address} within 2 s; " in ended.stderr
        assert "Traceback" not in ended.stderr
    assert not list(tmp_path.iterdir())
