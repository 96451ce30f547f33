"""A correct environment passes, and each mistake is told by the rule that it breaks."""

import jax
import pytest
from broken import BROKEN
from counter import Counter, Counters, Odd, scramble_targets

from jaxenv import wrappers
from jaxenv.testing import ConformanceError, check_environment, examine, trial
from jaxenv.testing.rules import RULES

ENV = Counter()
PARAMS = ENV.default_params


CORRECT = {
    "one": ENV,
    "several": Counters(),
    "one, counted": wrappers.EpisodeStatistics(ENV),
    "several, counted": wrappers.EpisodeStatistics(Counters()),
}


@pytest.mark.parametrize("env", CORRECT.values(), ids=CORRECT)
def test_a_correct_environment_passes(env):
    hidden = None if isinstance(env, wrappers.Wrapper) else scramble_targets
    check_environment(env, env.default_params, perturb_hidden=hidden)


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.env.__name__)
def test_a_mistake_is_told_by_its_rule(case):
    env = case.env()
    params = getattr(env, "default_params", None)
    with pytest.raises(ConformanceError, match=f"^{case.rule}: .*{case.words}") as caught:
        check_environment(env, params, perturb_hidden=scramble_targets)
    message = str(caught.value)
    assert f"Expected: {RULES[case.rule].law}. Usual cause: {RULES[case.rule].mistake}." in message


def test_every_rule_has_a_mistake_that_breaks_it():
    assert {case.rule for case in BROKEN} == set(RULES)


def test_what_cannot_be_checked_is_told(monkeypatch):
    monkeypatch.setattr(trial, "PATIENCE", 8)
    told = {verdict.rule: verdict for verdict in examine(Endless(), PARAMS, steps=4)}
    unchecked = {rule for rule, verdict in told.items() if verdict.status == "not checked"}
    assert unchecked == {"automatic reset", "hidden is silent", "illegal actions"}
    assert "no episode ended in" in told["automatic reset"].message
    assert "pass perturb_hidden" in told["hidden is silent"].message
    assert "no state has two illegal actions" in told["illegal actions"].message


def test_a_single_step_is_played_on_to_an_end_and_a_perturbation_has_to_change_something():
    def nothing(key, state, params):
        return state, params

    told = {verdict.rule: verdict for verdict in examine(ENV, PARAMS, steps=1, perturb_hidden=nothing)}
    assert told["automatic reset"].status == "ok"
    assert told["hidden is silent"].status == "broken"
    assert told["hidden is silent"].message.startswith("perturb_hidden changed nothing")


def test_odd_params_are_a_warning():
    with pytest.warns(UserWarning, match=r"^a step costs 0\.1$"):
        check_environment(wrappers.EpisodeStatistics(Odd()), PARAMS.replace(step_penalty=0.1))


def test_an_error_of_the_environments_own_is_not_hidden():
    class Faulty(Counter):
        def play(self, key, state, action, legal, params):
            raise LookupError("of its own")

    with pytest.raises(LookupError, match="of its own"):
        check_environment(Faulty(), PARAMS)


def test_steps_are_at_least_one():
    with pytest.raises(ValueError, match="at least one step"):
        check_environment(ENV, PARAMS, steps=0)


class Endless(Counter):
    """Nothing is illegal, and no time limit."""

    def play(self, key, state, action, legal, params):
        return state.replace(at=(state.at + 1) % 5)

    def legal(self, state, params):
        return jax.numpy.ones(self.num_actions, bool)
