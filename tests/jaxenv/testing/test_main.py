"""`python -m jaxenv.testing`: a line a rule, and an exit status."""

import pytest
from counter import Counter

from jaxenv.testing.__main__ import build, main
from jaxenv.testing.rules import RULES


@pytest.fixture
def lines(capsys):
    """(arguments) -> (exit status, lines of the output, lines of the errors)."""

    def run(*arguments):
        status = main(arguments)
        captured = capsys.readouterr()
        return status, captured.out.splitlines(), captured.err.splitlines()

    return run


def test_a_correct_environment_of_ones_own(lines):
    status, told, _ = lines("counter:Counter", "--hidden", "counter:scramble_targets", "--seed", "3", "--steps", "8")
    assert status == 0
    assert [line.split("  ")[0] for line in told[:-1]] == ["ok"] * len(RULES)
    assert [line[13:].startswith(rule) for line, rule in zip(told, RULES, strict=False)] == [True] * len(RULES)
    assert told[-1] == f"{len(RULES)} ok, 0 broken, 0 not checked"


def test_what_is_odd_about_the_params_comes_last(lines):
    _, told, _ = lines("counter:Odd", "--steps", "1")
    assert told[-2].startswith("warning      a step costs -0.1")


def test_a_broken_one_and_the_rule_that_was_not_checked(lines):
    status, told, _ = lines("broken:MaskTooWide")
    assert status == 1
    broken = [line for line in told if line.startswith("broken")]
    assert len(broken) == 1
    assert "mask" in broken[0]
    assert "is legal by the mask" in broken[0]
    assert any(line.startswith("not checked  hidden is silent") and "--hidden" in line for line in told)
    assert told[-1] == f"{len(RULES) - 2} ok, 1 broken, 1 not checked"


def test_nothing_is_played_where_it_cannot_be(lines):
    status, told, _ = lines("broken:PythonIf")
    assert status == 1
    assert told[2].startswith("broken       jit")
    assert sum(line.startswith("not checked") for line in told) == len(RULES) - 5 + 2


def test_a_function_may_return_params_too():
    env, params = build("counter:dear_counter")
    assert env == Counter()
    assert params.step_penalty == 2 * env.default_params.step_penalty


def test_an_error_inside_the_function_is_not_hidden():
    with pytest.raises(TypeError, match="_stacked"):
        build("counter:_stacked")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["LifeOps-v1"], "no environment 'LifeOps-v1'. Did you mean 'LifeOps-v0'?"),
        (["nowhere.envs:make"], "no module 'nowhere'"),
        (["counter:Countr"], "no function 'Countr' in counter. Did you mean 'Counter'?"),
        (["counter:Unequal"], "no function 'Unequal' in counter."),
        (["broken:Unequal"], "broken:Unequal returned Unequal, expected a jaxenv.Environment"),
        (["counter:Counter", "--hidden", "counter:scrambled"], "Did you mean 'scramble_targets'?"),
        (["counter:Counter", "--steps", "0"], "a whole number from 1 on, got '0'"),
    ],
)
def test_what_is_wrong_with_the_arguments_is_one_line(lines, arguments, words):
    status, told, errors = lines(*arguments)
    assert (status, told) == (2, [])
    assert words in errors[-1]


def test_help_names_the_options(lines):
    status, told, _ = lines("--help")
    assert status == 0
    assert all(option in "\n".join(told) for option in ("--steps", "--seed", "--hidden", "MODULE:FUNCTION"))
