"""The command-line entry point: dispatches to a command, and turns errors into one line and an exit status."""

import sys
from collections.abc import Sequence

import jax

import jaxenv
from jaxenv.host.companions import command
from jaxenv.host.names import printable, require_one_of
from train.cli.commands import COMMANDS
from train.cli.compiled import keep_compiled_programs
from train.run.outputs import NotFinite
from train.training import ALGORITHMS

TRAINING = "".join(
    f"  {f'{name} --env ID':<24}train a policy and score it on the environment's library\n"
    f"  {f'{name} --resume RUN_DIR':<24}resume a run that was killed or interrupted\n"
    for name in ALGORITHMS
)
USAGE = f"""\
usage: {{command}} COMMAND ...

{TRAINING}\
  evaluate RUN_DIR        score the policy of a run on the library, beside the baselines
  score RUN_DIR           score it on held-out scenarios too, as the leaderboard does
  leaderboard             show the leaderboard, or check rows of it
  collect RUN_DIR         write the transitions of its policy as a dataset
  watch RUN_DIR           play its episodes in the terminal
  play ID                 play an environment by hand, in the browser
  plot RUN_DIR ...        draw the learning curves of runs
  bench                   measure steps per second
  profile ID              show where a superstep of training goes
  scenarios COMMAND ...   write, check and read scenarios
  list                    list the environments
  --version               print the version

Run COMMAND --help for options."""


MAX_ARGUMENT = 1000  # characters; the messages about one repeat it
KEEPING = (*ALGORITHMS, "evaluate", "score", "collect", "watch", "play")  # commands whose compiled programs are kept


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status.

    The status is 2 for a request that cannot be met, 1 if training stopped at a loss that is not finite, and 130 if
    training was interrupted.
    """
    name, *arguments = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    if name in ("-h", "--help"):
        print(USAGE.format(command=command("train")))
        return 0
    if name == "--version":
        print(f"jaxenv {jaxenv.__version__}, jax {jax.__version__}")
        return 0
    try:
        for number, argument in enumerate((name, *arguments), start=1):
            if len(argument) > MAX_ARGUMENT:
                raise ValueError(
                    f"argument {number} has {len(argument):,} characters, expected at most {MAX_ARGUMENT:,}"
                )
        require_one_of(name, COMMANDS, f"no command {name!r}")
        if name in KEEPING:
            keep_compiled_programs()
        return COMMANDS[name](arguments)
    except BrokenPipeError:
        raise
    except (ValueError, OSError, ImportError, NotFinite) as error:
        print(f"{command('train')}: {printable(str(error))}", file=sys.stderr)
        return 1 if isinstance(error, NotFinite) else 2
    except SystemExit as exit:  # how argument parsers end
        return exit.code if isinstance(exit.code, int) else 2
