"""`python -m jaxenv.testing`: a line for each rule, and an exit status."""

import counter
import pytest
from counter import Counter

from jaxenv.testing.__main__ import build, main
from jaxenv.testing.check import RULES


@pytest.fixture
def lines(capsys):
    """(arguments) -> (exit status, lines of the output, lines of the errors)."""

    def run(*arguments):
        status = main(arguments)
        captured = capsys.readouterr()
        return status, captured.out.splitlines(), captured.err.splitlines()

    return run


def test_your_own_correct_environment(lines):
    status, output, _ = lines("counter:Counter", "--hidden", "counter:scramble_targets", "--seed", "3", "--steps", "8")
    assert status == 0
    assert [line.split("  ")[0] for line in output[:-1]] == ["ok"] * len(RULES)
    assert [line[13:].startswith(rule) for line, rule in zip(output, RULES, strict=False)] == [True] * len(RULES)
    assert output[-1] == f"{len(RULES)} ok, 0 broken, 0 not checked"


def test_warnings_about_the_params_come_last(lines):
    _, output, _ = lines("counter:Warns", "--steps", "1")
    assert output[-2].startswith("warning      a step costs -0.1")


def test_a_broken_rule_and_one_that_was_not_checked(lines):
    status, output, _ = lines("broken:MaskTooWide")
    assert status == 1
    broken = [line for line in output if line.startswith("broken")]
    assert len(broken) == 1
    assert "mask" in broken[0]
    assert "is legal by the mask" in broken[0]
    assert any(line.startswith("not checked  hidden information") and "--hidden" in line for line in output)
    assert output[-1] == f"{len(RULES) - 2} ok, 1 broken, 1 not checked"


def test_nothing_is_played_where_it_cannot_be(lines):
    status, output, _ = lines("broken:PythonIf")
    assert status == 1
    assert output[2].startswith("broken       jit")
    assert sum(line.startswith("not checked") for line in output) == len(RULES) - 5 + 2


def test_a_function_may_return_params_too():
    env, params = build("counter:dear_counter")
    assert env == Counter()
    assert params.step_penalty == 2 * env.default_params.step_penalty


def test_an_error_inside_the_function_is_not_hidden(monkeypatch):
    monkeypatch.setattr(counter, "fails", lambda: 1 // 0, raising=False)
    with pytest.raises(ZeroDivisionError):
        build("counter:fails")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["LifeOps-v1"], "no environment 'LifeOps-v1'. Did you mean 'LifeOps-v0'?"),
        (["nowhere.envs:make"], "environment nowhere.envs:make: No module named 'nowhere'"),
        (["counter:Countr"], "no 'Countr' in counter. Did you mean 'Counter'?"),
        (["counter:dataclasses"], "counter:dataclasses: expected a function or class, got module"),
        (["counter:_stacked"], "counter:_stacked: it is called without arguments"),
        (["counter:Unequal"], "no 'Unequal' in counter."),
        (["broken:Unequal"], "broken:Unequal returned Unequal, expected a jaxenv.Environment"),
        (["counter:Counter", "--hidden", "counter:scrambled"], "Did you mean 'scramble_targets'?"),
        (["counter:Counter", "--steps", "0"], "expected an integer of at least 1, got '0'"),
    ],
)
def test_what_is_wrong_with_the_arguments_is_one_line(lines, arguments, words):
    status, output, errors = lines(*arguments)
    assert (status, output) == (2, [])
    assert words in errors[-1]


def test_help_names_the_options(lines):
    status, output, _ = lines("--help")
    assert status == 0
    assert all(option in "\n".join(output) for option in ("--steps", "--seed", "--hidden", "MODULE:FUNCTION"))
