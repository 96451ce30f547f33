"""A correct environment passes, and the rule that a mistake breaks reports it."""

import jax
import pytest
from broken import BROKEN, MaskAfterTheEnd
from counter import Counter, Counters, Warns, scramble_targets

from jaxenv import wrappers
from jaxenv.testing import ConformanceError, check_environment, examine, run
from jaxenv.testing.check import RULES

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
def test_a_mistake_is_reported_by_its_rule(case):
    env = case.env()
    params = getattr(env, "default_params", None)
    with pytest.raises(ConformanceError, match=f"^{case.rule}: .*{case.words}") as caught:
        check_environment(env, params, perturb_hidden=scramble_targets)
    message = str(caught.value)
    assert f"Expected: {RULES[case.rule].law}. Usual cause: {RULES[case.rule].mistake}." in message


def test_every_rule_has_a_law_and_a_mistake_that_breaks_it():
    assert all(rule.law and rule.mistake for rule in RULES.values())
    assert {case.rule for case in BROKEN} == set(RULES)


def test_what_cannot_be_checked_is_reported(monkeypatch):
    monkeypatch.setattr(run, "PATIENCE", 8)
    verdicts = {verdict.rule: verdict for verdict in examine(Endless(), PARAMS, steps=4)}
    unchecked = {rule for rule, verdict in verdicts.items() if verdict.status == "not checked"}
    assert unchecked == {"automatic reset", "hidden information", "illegal actions"}
    assert "no episode ended in" in verdicts["automatic reset"].message
    assert "pass perturb_hidden" in verdicts["hidden information"].message
    assert "no state has two illegal actions" in verdicts["illegal actions"].message


def test_play_continues_to_an_end_and_a_perturbation_must_change_something():
    def nothing(key, state, params):
        return state, params

    verdicts = {verdict.rule: verdict for verdict in examine(ENV, PARAMS, steps=1, perturb_hidden=nothing)}
    assert verdicts["automatic reset"].status == "ok"
    assert verdicts["hidden information"].status == "broken"
    assert verdicts["hidden information"].message.startswith("perturb_hidden changed nothing")


@pytest.mark.slow
@pytest.mark.parametrize(("base", "mask"), [(Counter, "not checked"), (MaskAfterTheEnd, "broken")])
@pytest.mark.parametrize("flag", [None, 1, jax.numpy.zeros(2, bool)])
def test_what_needs_no_info_is_checked_beside_one_that_is_broken(base, mask, flag):
    class Silent(base):
        def transition(self, key, state, action, params):
            state, reward, terminated, _ = super().transition(key, state, action, params)
            return state, reward, terminated, {} if flag is None else {"invalid_action": flag}

    verdicts = {verdict.rule: verdict for verdict in examine(Silent(), PARAMS, perturb_hidden=scramble_targets)}
    assert "Usual cause: transition returns an info without reward_parts" in verdicts["info"].message
    assert verdicts["mask"].message.startswith("info has no invalid_action" if base is Counter else "not every action")
    skipped = [name for name, rule in RULES.items() if rule.reads_info]
    expected = {"info": "broken", "mask": mask} | dict.fromkeys(skipped, "not checked")
    assert {rule: verdict.status for rule, verdict in verdicts.items()} == dict.fromkeys(RULES, "ok") | expected


def test_warnings_about_params_are_raised():
    with pytest.warns(UserWarning, match=r"^a step costs 0\.1$"):
        check_environment(wrappers.EpisodeStatistics(Warns()), PARAMS.replace(step_penalty=0.1))


def test_an_error_raised_by_the_environment_is_not_hidden():
    class Faulty(Counter):
        def play(self, key, state, action, legal, params):
            raise LookupError("its own error")

    with pytest.raises(LookupError, match="its own error"):
        check_environment(Faulty(), PARAMS)


def test_steps_are_at_least_one():
    with pytest.raises(ValueError, match="expected at least 1"):
        check_environment(ENV, PARAMS, steps=0)


class Endless(Counter):
    """Every action is legal, and no episode ends."""

    def play(self, key, state, action, legal, params):
        return state.replace(at=(state.at + 1) % 5)

    def legal(self, state, params):
        return jax.numpy.ones(self.num_actions, bool)
