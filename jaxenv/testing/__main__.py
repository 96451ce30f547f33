"""The command line: `python -m jaxenv.testing ID`, or `MODULE:FUNCTION` for an environment of one's own."""

import argparse
import difflib
import importlib
import sys
from collections.abc import Sequence
from typing import Any

import jax

import jaxenv
from jaxenv.core import Environment
from jaxenv.testing.check import STEPS, examine

EPILOG = """\
an environment of your own, by a function (or class) that returns it, alone or as (environment, params):

  python -m jaxenv.testing mypackage.envs:make_env --hidden mypackage.envs:scramble

where scramble is (key, state, params) -> (state, params) that look the same to the agent. The exit status is 0 where
every rule holds that could be checked, 1 where one is broken, 2 where there is no such environment.
"""


class Refused(Exception):
    """The arguments name nothing that could be checked; the message is one line."""


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a line a rule and returns the exit status."""
    try:
        arguments = _parser().parse_args(argv)
    except SystemExit as exit:
        return exit.code if isinstance(exit.code, int) else 2
    try:
        env, params = build(arguments.environment)
        hidden = load(arguments.hidden) if arguments.hidden else None
    except Refused as error:
        print(f"python -m jaxenv.testing: {error}", file=sys.stderr)
        return 2
    return report(env, params, key=jax.random.key(arguments.seed), steps=arguments.steps, perturb_hidden=hidden)


def report(env: Environment, params: Any, **options: Any) -> int:
    """Prints the verdict on every rule as it falls, and what is odd about the params; 1 if a rule is broken, else 0."""
    counts = {"ok": 0, "broken": 0, "not checked": 0}
    for verdict in examine(env, params, **options):
        counts[verdict.status] += 1
        print(f"{verdict.status:12} {verdict.rule:19} {verdict.message}", flush=True)
    for warning in env.warnings(params):
        print(f"warning      {warning}")
    print(", ".join(f"{count} {status}" for status, count in counts.items()))
    return 1 if counts["broken"] else 0


def build(name: str) -> tuple[Environment, Any]:
    """(environment, params) of a registered id or of a `MODULE:FUNCTION`; `Refused` names the nearest."""
    if ":" not in name:
        try:
            return jaxenv.make(name)
        except ValueError as error:
            raise Refused(str(error)) from error
    made = load(name)()
    env, params = made if isinstance(made, tuple) and len(made) == 2 else (made, None)
    if not isinstance(env, Environment):
        raise Refused(f"{name} returned {type(env).__name__}, expected a jaxenv.Environment or (environment, params)")
    return env, env.default_params if params is None else params


def load(path: str) -> Any:
    """The function that a `MODULE:FUNCTION` names; `Refused` says what there is not, and the nearest name."""
    module_name, _, name = path.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if not f"{module_name}.".startswith(f"{error.name}."):
            raise  # the module is there and imports one that is not
        raise Refused(f"no module {error.name!r} in the working directory or on PYTHONPATH") from error
    if not callable(getattr(module, name, None)):
        near = difflib.get_close_matches(name, dir(module), n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise Refused(f"no function {name!r} in {module_name}.{hint}")
    return getattr(module, name)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m jaxenv.testing",
        description="Checks every rule that an environment of jaxenv keeps, and prints a line a rule.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("environment", metavar="ID", help="a registered id, or MODULE:FUNCTION")
    parser.add_argument(
        "--steps", type=_count, default=STEPS, help="of each of the eight episodes (default %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the episodes and actions (default %(default)s)")
    parser.add_argument("--hidden", metavar="MODULE:FUNCTION", help="changes what the agent must not see")
    return parser


def _count(text: str) -> int:
    """A whole number from 1 on."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1 on, got {text!r}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
