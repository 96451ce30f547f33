"""The file of known returns is what the solvers write; `import scenarios` does not load them."""

import json
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import jaxenv
import scenarios
from jaxenv import baselines
from jaxenv.envs.lifeops.actions import ACCEPT, RESCHEDULE
from lab import solvers
from lab.solvers import lifeops, week
from lab.solvers.known_returns import write
from lab.solvers.lifestack import played
from lab.solvers.teamsclone import returns as teamsclone
from reference.lifeops_library import LIBRARY
from reference.lifeops_search import solve as solve_in_reference
from scenarios.credit import exact
from scenarios.credit.exact import solve
from scenarios.libraries import RETURNS
from scenarios.solvers import winnable

STORED = json.loads(RETURNS.read_text("utf-8"))
DAYS, CRISES, CHATS, WEEKS = (scenarios.load(name) for name in ("lifeops", "lifestack", "teamsclone", "week"))
RULES = ("LifeOps-v0", "LifeOps-Shaped-v0")
LONG = ("LifeOps-Shaped-v0", "edge_deadline_1")  # a million states


def some(library: scenarios.Library, *ids: str) -> scenarios.Library:
    """A library of some scenarios."""
    return scenarios.parse(library.environment, [library.documents[library.index(id)] for id in ids])


def days(env_name: str, *ids: str) -> tuple[str, str]:
    """(the rows of some days as the search writes them, as they are stored)."""
    rows = lifeops.returns(jaxenv.make(env_name)[0], some(DAYS, *ids))
    return json.dumps(rows), json.dumps({id: STORED[env_name][id] for id in ids})


@pytest.mark.slow
def test_the_rows_of_short_days_are_what_the_search_writes() -> None:
    written, stored = days("LifeOps-Shaped-v0", "easy_2", "edge_mood_monday_1", "s2_travel_tight")
    assert written == stored


@pytest.mark.slow
@pytest.mark.parametrize("env_name", RULES)
def test_the_rows_of_days_are_what_the_search_writes(env_name: str) -> None:
    written, stored = days(env_name, *(id for id in DAYS.ids if (env_name, id) != LONG))
    assert written == stored


@pytest.mark.slow
def test_the_row_of_the_longest_day_is_what_the_search_writes() -> None:
    written, stored = days(*LONG)
    assert written == stored


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["classic", "shaped"])
def test_the_search_agrees_with_the_reference_on_a_day_of_its_own(rules: str) -> None:
    document = {**LIBRARY["s3_focus_vs_meeting"], "scenario_id": "short", "max_steps": 3}
    env, _ = jaxenv.make(dict(zip(("classic", "shaped"), RULES, strict=True))[rules])
    library = scenarios.parse("lifeops", document)
    found, expected = lifeops.returns(env, library)["short"], solve_in_reference(document, rules)
    for name in ("best", "worst", "random"):
        assert found[name] == pytest.approx(getattr(expected, name), abs=1e-4)


def test_values_of_a_day_with_one_request() -> None:
    env, params = jaxenv.make("LifeOps-v0")
    found = solve(env, params, env.init(jax.random.key(0), params, DAYS.index("easy_2")))
    assert found[:3] == pytest.approx((0.0, -5.6, -3.5), abs=1e-5)
    assert found.of_actions.max() == found.best


def test_the_best_classic_play_takes_no_meeting(monkeypatch: pytest.MonkeyPatch) -> None:
    """As good without accepting and moving: an offer of another time costs nothing. The shaped rules pay for both."""
    backward = exact._backward

    def best_without(env_name: str, id: str) -> float:
        env, _ = jaxenv.make(env_name)
        takes = np.isin(env.catalogue.table[:, 0], (ACCEPT, RESCHEDULE))

        def only_others(layer, values):
            return backward(layer._replace(legal=layer.legal & ~takes), values)

        monkeypatch.setattr(exact, "_backward", only_others)
        params = env.params_for(DAYS.bank)
        return solve(env, params, env.init(jax.random.key(0), params, DAYS.index(id))).best

    for id in ("easy_2", "s1_basic_conflict", "s5_late_meeting"):
        assert best_without("LifeOps-v0", id) == pytest.approx(STORED["LifeOps-v0"][id]["best"], abs=1e-4)
    assert best_without("LifeOps-Shaped-v0", "easy_1") < STORED["LifeOps-Shaped-v0"]["easy_1"]["best"] - 1


@pytest.mark.slow
@pytest.mark.parametrize("id", CRISES.ids)
def test_the_row_of_a_crisis_is_what_the_baselines_earn(id: str, crisis_policies) -> None:
    env, policies = crisis_policies
    row = played(env, policies, CRISES.bank[CRISES.index(id)])
    assert json.dumps(row) == json.dumps({name: STORED["LifeStack-v0"][id][name] for name in row})


@pytest.mark.slow
def test_the_rows_of_chats_are_what_the_agents_earn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within the error of a mean of two thousand episodes: another chip may choose otherwise where two are as good."""
    monkeypatch.setattr(teamsclone, "bounded", lambda *_: {})
    for id, row in teamsclone.returns(jaxenv.make("TeamsClone-v0")[0], CHATS).items():
        stored = STORED["TeamsClone-v0"][id]
        assert stored["best_is"] == row["best_is"] == "found"
        for name in ("random", "rule_based", "best"):
            assert row[name] == pytest.approx(stored[name], abs=0.1)
        assert row["random"] < row["rule_based"] < row["best"]


@pytest.mark.parametrize("variant", ["Mentions", "MultiTask", "MultiAgent"])
def test_the_variants_of_chats_have_no_rows(variant: str) -> None:
    assert teamsclone.returns(jaxenv.make(f"TeamsClone-{variant}-v0")[0], CHATS) == {}


@pytest.mark.slow
@pytest.mark.parametrize("id", ["general", "observatory"])
def test_the_bound_of_a_chat_is_that_of_the_solver(id: str) -> None:
    env, _ = jaxenv.make("TeamsClone-v0")
    row = teamsclone.bounded(env, env.params_for(CHATS.bank), CHATS.ids.index(id))
    stored = {name: STORED["TeamsClone-v0"][id][name] for name in row}
    assert row == pytest.approx(stored, abs=0.01)  # the same draws, and sums that are rounded otherwise


@pytest.mark.parametrize("id", CHATS.ids)
def test_the_bounds_of_chats_are_some_errors_above_what_was_found(id: str) -> None:
    row = STORED["TeamsClone-v0"][id]
    assert tuple(row) == ("random", "rule_based", "best", "best_is", "upper", "upper_error")
    assert row["best_is"] == "found"
    assert 0 < row["upper_error"] < 0.1
    assert row["best"] + teamsclone.ERRORS * row["upper_error"] < row["upper"] < row["best"] + 4.5


@pytest.mark.slow
def test_the_rows_of_weeks_are_what_the_agents_earn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        week, "mean_returns", lambda policy, env, params: jaxenv.evaluate(policy, env, params).returns[:, 0]
    )
    for env_name in ("Week-v0", "Week-Notes-v0", "Week-Open-v0"):
        rows = week.returns(jaxenv.make(env_name)[0], WEEKS)
        for id, row in rows.items():
            stored = STORED[env_name][id]
            assert row["rule_based"] == pytest.approx(stored["rule_based"], abs=0.001)
            assert row["best"] == pytest.approx(stored["best"], abs=1)  # another chip may choose otherwise among equals


def test_nobody_earns_more_in_a_week_than_was_found() -> None:
    for env_name in ("Week-v0", "Week-Notes-v0", "Week-Open-v0"):
        for id, row in STORED[env_name].items():
            assert tuple(row) == ("random", "rule_based", "best", "best_is")
            assert row["random"] < 0 < row["rule_based"] < row["best"] < 100
            assert row["best"] == STORED["Week-v0"][id]["best"] > 60


@pytest.fixture(scope="module")
def crisis_policies() -> tuple:
    """The policies are made once, so that playing them compiles once."""
    env, _ = jaxenv.make("LifeStack-v0")
    return env, baselines.for_environment(env)


def test_every_solved_library_has_a_row_for_each_scenario() -> None:
    assert solvers.SOLVED == ("lifeops", "lifestack", "teamsclone", "week")
    libraries = {"LifeOps-v0": DAYS, "LifeOps-Shaped-v0": DAYS, "LifeStack-v0": CRISES, "TeamsClone-v0": CHATS}
    libraries |= dict.fromkeys(("Week-v0", "Week-Notes-v0", "Week-Open-v0"), WEEKS)
    assert {name: tuple(table) for name, table in STORED.items()} == {
        name: library.ids for name, library in libraries.items()
    }


def test_rows_are_written_beside_those_of_other_environments(tmp_path: Path) -> None:
    (file := tmp_path / "returns.json").write_bytes(RETURNS.read_bytes())
    write(file, {"LifeStack-v0": STORED["LifeStack-v0"]})
    assert file.read_bytes() == RETURNS.read_bytes()
    write(file, {"Other-v0": {"t": {"best": 1.0}}})
    assert json.loads(file.read_text("utf-8"))["Other-v0"] == {"t": {"best": 1.0}}


def test_the_command_writes_and_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    (file := tmp_path / "returns.json").write_bytes(RETURNS.read_bytes())
    monkeypatch.setattr(solvers, "RETURNS", file)
    monkeypatch.setattr(solvers, "returns", lambda library, seconds: {"Some-v0": {library.ids[0]: {"best": seconds}}})
    solvers.main(["lifeops", "--seconds", "3"])
    assert json.loads(file.read_text("utf-8")) == {**STORED, "Some-v0": {"easy_1": {"best": 3.0}}}
    assert capsys.readouterr().out.split() == ["Some-v0", "easy_1", "best", "3.0"]
    with pytest.raises(SystemExit):
        solvers.main(["chess"])
    assert "Available: lifeops, lifestack, teamsclone, week" in capsys.readouterr().err


def test_only_lifestack_knows_whether_it_can_be_won() -> None:
    assert winnable(some(CRISES, "car_breakdown_task")) == {"car_breakdown_task": "yes"}
    assert winnable(DAYS) == {}


def test_importing_scenarios_loads_no_solver() -> None:
    program = "import sys, scenarios; assert not [name for name in sys.modules if 'solvers' in name]"
    root = Path(scenarios.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=root)
    assert done.returncode == 0, done.stderr
