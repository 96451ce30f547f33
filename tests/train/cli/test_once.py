"""From the command line to the first superstep: nothing is made or checked twice."""

import sys
from collections import Counter

import pytest
from probes import LIBRARY, Registered

from jaxenv import registry
from train.cli.main import main
from train.protocol import shipped
from train.run import job, runner

CHECKS = [job.require_valid, job.check_scenarios, job.check_start_weights, job.check_abilities, job.check_installed]
MADE = [job.check_outputs, job.make_network, job.starting_weights, job.members, job.task.make, job.task.complete]


@pytest.mark.parametrize("members", [[], ["--seeds", "2"]])
def test_nothing_is_made_or_checked_twice_before_a_run(members, tmp_path, monkeypatch):
    called = Counter()

    def interrupted(*_, **__):
        sys.setprofile(None)
        raise KeyboardInterrupt

    monkeypatch.setitem(registry._FACTORIES, "Table-v0", Registered)
    monkeypatch.setattr(shipped, "library_for", lambda env, path=None: LIBRARY)
    monkeypatch.setattr(runner, "run_members", interrupted)
    sys.setprofile(lambda frame, event, _: called.update([frame.f_code] if event == "call" else []))
    try:
        assert main(["ppo", "--env", "Table-v0", *members, "--run-dir", str(tmp_path / "run")]) == 130
    finally:
        sys.setprofile(None)
    once = [*CHECKS, *MADE]
    assert {each.__name__: called[each.__code__] for each in once} == {each.__name__: 1 for each in once}
    assert called[job.place.__code__] == (0 if members else 1)
