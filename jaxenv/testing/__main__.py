"""The command line: `python -m jaxenv.testing ID`, or `MODULE:FUNCTION` for your own environment."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import jax

import jaxenv
from jaxenv.core import Environment
from jaxenv.host.named import UsageError, import_function, made
from jaxenv.testing.check import STEPS, examine

EPILOG = """\
For your own environment, name a function (or class) that returns it, alone or as (environment, params):

  python -m jaxenv.testing mypackage.envs:make_env --hidden mypackage.envs:scramble

where scramble is (key, state, params) -> (state, params) that look the same to the agent. The exit status is 0 if
every rule that could be checked holds, 1 if one is broken, 2 if there is no such environment.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a line for each rule and returns the exit status."""
    try:
        arguments = _parser().parse_args(argv)
        env, params = build(arguments.environment)
        hidden = import_function(arguments.hidden, "--hidden") if arguments.hidden else None
    except SystemExit as exit:  # how argument parsers end
        return exit.code if isinstance(exit.code, int) else 2
    except UsageError as error:
        print(f"python -m jaxenv.testing: {error}", file=sys.stderr)
        return 2
    return report(env, params, key=jax.random.key(arguments.seed), steps=arguments.steps, perturb_hidden=hidden)


def report(env: Environment, params: Any, **options: Any) -> int:
    """Prints the verdict on each rule and the warnings about the params; 1 if a rule is broken, else 0."""
    counts = {"ok": 0, "broken": 0, "not checked": 0}
    for verdict in examine(env, params, **options):
        counts[verdict.status] += 1
        print(f"{verdict.status:12} {verdict.rule:19} {verdict.message}", flush=True)
    for warning in env.warnings(params):
        print(f"warning      {warning}")
    print(", ".join(f"{count} {status}" for status, count in counts.items()))
    return 1 if counts["broken"] else 0


def build(name: str) -> tuple[Environment, Any]:
    """(environment, params) of a registered id or of a `MODULE:FUNCTION`."""
    if ":" not in name:
        try:
            return jaxenv.make(name)
        except ValueError as error:
            raise UsageError(str(error)) from error
    found = made(import_function(name, "environment"), name, "environment")
    env, params = found if isinstance(found, tuple) and len(found) == 2 else (found, None)
    if not isinstance(env, Environment):
        raise UsageError(f"{name} returned {type(env).__name__}, expected a jaxenv.Environment or (it, params)")
    return env, env.default_params if params is None else params


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m jaxenv.testing",
        description="Checks every rule of the contract of jaxenv's environments, and prints a line for each.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("environment", metavar="ID", help="a registered id, or MODULE:FUNCTION")
    parser.add_argument("--steps", type=_count, default=STEPS, help="steps of each episode (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="random seed (default %(default)s)")
    parser.add_argument("--hidden", metavar="MODULE:FUNCTION", help="function that changes what the agent must not see")
    return parser


def _count(text: str) -> int:
    """Parses an integer of at least 1."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected an integer of at least 1, got {text!r}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
