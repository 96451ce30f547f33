"""Write, check and read scenarios."""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Sequence

import jaxenv
from jaxenv.host import process
from jaxenv.host.companions import command
from jaxenv.host.names import printable
from scenarios import authoring, solvers
from scenarios.loading import ENVIRONMENTS, load
from scenarios.text.errors import ScenarioError

NOT_WON = {
    "no": "it cannot be won: no play succeeds.",
    "unknown": "it is unknown whether it can be won: the search ran out of time.",
}
NAMES = ", ".join(ENVIRONMENTS)
WHERE = "a YAML or JSON file, a folder of them, a library, or one scenario of a library as LIBRARY/ID"

EPILOG = """\
your own scenario, from the first line to a trained policy:

  {scenarios} new {name} my_days/monday.yaml     # edit it
  {scenarios} check my_days
  {scenarios} show my_days/monday.yaml
  {train} ppo --env {id} --scenarios my_days

Libraries: {names}. Run COMMAND --help for options.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status.

    The status is 1 if `check` finds a mistake, and 2 for a request that cannot be met.
    """
    try:
        arguments = _parser().parse_args(list(sys.argv[1:] if argv is None else argv) or ["--help"])
        return arguments.run(arguments)
    except ScenarioError as error:
        print(printable("\n".join(f"error: {problem}" for problem in error.problems)), file=sys.stderr)
    except BrokenPipeError:
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(printable(f"error: {where}{error.strerror}."), file=sys.stderr)
    except SystemExit as exit:  # how argument parsers end
        return exit.code if isinstance(exit.code, int) else 2
    return 2


def new(arguments: argparse.Namespace) -> int:
    """Prints an example document with a comment on every field, or writes it to a new file.

    The JSON Schema is written beside the file, so that editors complete names and mark mistakes
    (in VS Code with the YAML extension by Red Hat).
    """
    text = authoring.new(arguments.environment, arguments.path)
    if arguments.path is None:
        print(text, end="")
    else:
        print(f"Wrote {arguments.path}, and {authoring.schema_name(arguments.environment)} beside it for editors.")
        print(f"Edit it, then run: {command('scenarios')} check {arguments.path}")
    return 0


def check(arguments: argparse.Namespace) -> int:
    """Reports every mistake with its file and line, what was expected, and the nearest name.

    Warnings are about choices that are allowed but rarely intended. They are reported with mistakes too, except those
    that are drawn from all of a document, as from a crisis of LifeStack, which wait until it has no mistake. Where a
    planner exists, it also searches whether each scenario can be won, for a few seconds each. The exit status is 1 if
    there is a mistake, otherwise 0.
    """
    count, warnings, problems = 0, [], []
    answers: Counter[str] = Counter()
    for path in arguments.paths:
        try:
            library = load(path)
        except ScenarioError as error:
            problems += error.problems
            warnings += error.warnings
        else:
            count += len(library)
            found = solvers.winnable(library)
            answers.update(found.values())
            warnings += library.warnings
            warnings += (f"{path}: {id}: {NOT_WON[answer]}" for id, answer in found.items() if answer in NOT_WON)
    for problem in problems:
        print(printable(f"error: {problem}"), file=sys.stderr)
    for warning in warnings:
        print(printable(f"warning: {warning}"))
    if problems:
        print("There may be more once these mistakes are mended.")
        return 1
    winnable = ", ".join(f"{answers[answer]} {answer}" for answer in ("yes", "no", "unknown") if answers[answer])
    counts = f"{_number(count, 'scenario')}, {_number(len(warnings), 'warning')}"
    print(f"{counts}; winnable: {winnable}" if winnable else counts)
    return 0


def show(arguments: argparse.Namespace) -> int:
    """Prints each scenario: its first state as the agent sees it, and the whole document as YAML."""
    library = load(arguments.path)
    print("\n\n".join(library.page(id) for id in library.ids))
    return 0


def schema(arguments: argparse.Namespace) -> int:
    """Prints the JSON Schema of an environment's documents.

    Editors use it, in a file, for a YAML document whose first line is
    # yaml-language-server: $schema=FILE
    """
    print(authoring.schema_text(arguments.environment), end="")
    return 0


def serve(arguments: argparse.Namespace) -> int:
    """Serves the environments as text over HTTP and WebSocket, by the protocol of OpenEnv, until interrupted.

    Needs the extra openenv: in a checkout of jaxenv, pip install '.[openenv]'. At a reset a client asks for what it
    plays:

      from openenv.core import GenericEnvClient
      with GenericEnvClient(base_url="http://127.0.0.1:8000").sync() as client:
          print(client.reset(env_id="LifeStack-v0", scenario="generated", seed=3).observation["text"])
          print(client.step({"message": "117"}).reward)

    There are no passwords: whoever reaches the port may play.
    """
    try:
        from scenarios.serving import app
    except ImportError as error:
        raise ScenarioError(f"{error}.") from None
    app.serve(arguments.host, arguments.port, arguments.env, arguments.sessions, arguments.idle)
    return 0


def _parser() -> argparse.ArgumentParser:
    """The commands and their arguments."""
    text = argparse.RawDescriptionHelpFormatter
    name = next(iter(ENVIRONMENTS))
    id = next(id for id in jaxenv.registered() if id.lower().startswith(name))
    programs = {package: command(package) for package in ("scenarios", "train")}
    epilog = EPILOG.format(name=name, id=id, names=NAMES, **programs)
    parser = argparse.ArgumentParser(command("scenarios"), description=__doc__, epilog=epilog, formatter_class=text)
    commands = parser.add_subparsers(required=True, title="commands", metavar="COMMAND")

    def subcommand(run: Callable[[argparse.Namespace], int], summary: str) -> argparse.ArgumentParser:
        description = "\n".join(line.strip() for line in str(run.__doc__).strip().splitlines())
        added = commands.add_parser(run.__name__, help=summary, description=description, formatter_class=text)
        added.set_defaults(run=run)
        return added

    added = subcommand(new, "start a scenario: an example with a comment on every field")
    added.add_argument("environment", metavar="ENVIRONMENT", help=NAMES)
    added.add_argument("path", metavar="FILE", nargs="?", help="a new .yaml file; without it, the example is printed")
    added = subcommand(check, "report what is wrong with scenarios")
    added.add_argument("paths", metavar="WHAT", nargs="+", help=WHERE)
    added = subcommand(show, "print scenarios as pages of text")
    added.add_argument("path", metavar="WHAT", help=WHERE)
    added = subcommand(schema, "print the JSON Schema with which editors complete and check scenarios")
    added.add_argument("environment", metavar="ENVIRONMENT", help=NAMES)
    added = subcommand(serve, "serve the environments as text, by the protocol of OpenEnv")
    added.add_argument("--env", metavar="ID", default=id, help="of a reset that names none (default: %(default)s)")
    added.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s, this machine)")
    added.add_argument("--port", type=_count_to(65535), default=8000, help="default: %(default)s")
    added.add_argument("--sessions", type=_count_to(4096), default=16, help="at a time, of HTTP and of WebSocket each")
    added.add_argument("--idle", type=_count_to(10**6), default=600, metavar="SECONDS", help="how long a session stays")
    return parser


def _count_to(most: int) -> Callable[[str], int]:
    """Reads a number from 1 to `most`."""

    def count(text: str) -> int:
        if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= most):
            raise argparse.ArgumentTypeError(f"{text!r}, expected a whole number from 1 to {most}")
        return int(text)

    return count


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


if __name__ == "__main__":
    process.run(main)
