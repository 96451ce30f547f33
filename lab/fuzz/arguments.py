"""Odd arguments of the commands: each list is accepted, or refused with exit status 2 and a few lines, leaving nothing.

The commands run in this process, in a folder of their own, up to where work would begin: nothing is compiled.
"""

import contextlib
import dataclasses
import functools
import importlib
import inspect
import io
import os
import pathlib
import random
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from unittest import mock

import jaxenv
from jaxenv import __main__ as console
from jaxenv import registry
from lab.fuzz.judging import Fault, stopped
from scenarios import __main__ as documents
from scenarios import authoring
from train.cli import commands
from train.cli.options import Start
from train.save import folder as run_folder
from train.settings.config import Config
from train.training import ALGORITHMS

SECONDS = 2.0  # of computing, for one list
MAX_LINES = 30  # on stderr
MAX_MESSAGE = 10_000  # characters, likewise
TRAINERS = tuple(ALGORITHMS)

WORK = (
    *("train.run.runner.run_members", "train.data.dataset.play"),
    *("train.processes.join", "train.cli.comparison.evaluate", "train.cli.comparison.mean_returns"),
    *("train.cli.benchmark.compile_all", "train.cli.benchmark.in_turns", "train.benchmark.profile.profile"),
    *("train.cli.policies.with_generated", "jaxenv.rendering.record", "scenarios.solvers.winnable"),
    *("jaxenv.core.ScenarioBank.save", "train.cli.comparison.validation_returns"),
)
"""The points where a command begins to work, or would change files of others."""
SERVE = "scenarios.serving.app.serve"

NUMBERS = [
    *("-1", "0", "1", "2", "3", "7", "0.5", "nan", "inf", "-inf", "1e400", "1e-400", str(10**15), str(2**31)),
    *(str(2**63), str(2**64), "9" * 5000, "1_000", "1e3", "0x10", "٣", "1,2", "3e-4,1e-3", "1 2"),
]
WORDS = [
    *("", " ", "é", "é\udcff", "\n", "\x1b[31m", "x" * 300, "x" * 5000, "-", "=", "a=b", "seed=1,2", "gamma=0.9,nan"),
    *("learning_rate=" + ",".join(["1"] * 3000), "True", "None", "none", "{}", "[]", "%s", "{0}", "*", "~"),
]
NAMES = [
    *("LifeOps-v0", "LifeOps-Shaped-v0", "TeamsClone-MultiAgent-v0", "LifeOp-v0", "LIFEOPS-V0", "CartPole-v1"),
    *("lifeops/easy_1", "lifeops/easy_99", "teamsclone", "lifestack", "week", "generated", "library"),
    *("flat", "entities"),
    *("json:loads", "json:", ":", "nowhere:make", "json:none", "PPO", "environments", "npz"),
]
PATHS = [
    *(".", "run", "run/policy.msgpack", "run/config.json", "empty", "day.yaml", "bad.yaml", "days", "none"),
    *("/dev/null", "/proc/none/x", "x" * 300, "é\udcff.npz", "out.npz", "out.png", "day.yaml/x", "link", "loop"),
]
VALUES = {"values": NUMBERS, "names": NAMES, "paths": PATHS, "words": WORDS}
ANY = [*NUMBERS, *WORDS, *NAMES, *PATHS]


class Line(NamedTuple):
    """A list of arguments."""

    program: str  # jaxenv or scenarios
    arguments: tuple[str, ...]


class Began(BaseException):
    """A command would begin to work now."""


def judge(line: Line, folder: pathlib.Path) -> str:
    """The message for a refused list; "" for a list with which work would begin, or is done.

    Raises:
        Fault: for any other result.
    """
    place = folder / "place"
    _furnish(place)
    before = _listing(place)
    _warm()
    with stopped():
        start = time.process_time()
        status, errors = _run(line, place)
        seconds = time.process_time() - start
    if seconds > SECONDS:
        raise Fault(f"{seconds:.1f} s")
    if "Traceback" in errors:
        raise Fault("a traceback on stderr")
    if len(errors) > MAX_MESSAGE or errors.count("\n") > MAX_LINES:
        raise Fault(f"{errors.count(chr(10))} lines, {len(errors)} characters on stderr")
    if status in (None, 0):
        return ""
    is_checked = status == 1 and line.arguments[: 1 + (line.program == "jaxenv")][-1:] == ("check",)
    if status != 2 and not is_checked:
        raise Fault(f"exit status {status}")
    if not errors.strip():
        raise Fault("refused without a word")
    if left := sorted(_listing(place) ^ before):
        raise Fault(f"refused, and left behind: {left}")
    return errors


def _run(line: Line, place: pathlib.Path) -> tuple[int | None, str]:
    """(exit status, None where work would begin; the text on stderr)."""
    main = {"jaxenv": console.main, "scenarios": documents.main}[line.program]
    output, errors = (io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace") for _ in range(2))
    here = os.getcwd()
    os.chdir(place)
    try:
        with _idle(), contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            status: int | None = main(list(line.arguments))
            output.flush()
    except Began:
        status = None
    except SystemExit as exit:
        status = exit.code if isinstance(exit.code, int) else 2
    finally:
        os.chdir(here)
    errors.flush()
    return status, errors.buffer.getvalue().decode()  # pyright: ignore[reportAttributeAccessIssue]


@contextlib.contextmanager
def _idle() -> Iterator[None]:
    """No command works, and none changes this process."""

    def begin(*_: Any, **__: Any) -> None:
        raise Began

    with contextlib.ExitStack() as stack:
        for name in (*WORK, *([SERVE] if _has_server() else [])):
            stack.enter_context(mock.patch(name, begin))
        stack.enter_context(mock.patch("train.cli.main.keep_compiled_programs"))
        stack.enter_context(mock.patch.dict(registry._FACTORIES))
        stack.enter_context(mock.patch.object(sys, "path", list(sys.path)))
        stack.enter_context(mock.patch.object(sys, "argv", ["jaxenv"]))
        yield


def _has_server() -> bool:
    try:
        importlib.import_module("scenarios.serving.app")
    except ImportError:
        return False
    return True


def _line(dice: random.Random, kind: str) -> Line:
    """A list of a class for some command, of which the rest is as it should be."""
    name, options, positional = dice.choice(_options())
    program = "scenarios" if name.startswith("scenarios") else "jaxenv"
    words = name.split()[program == "scenarios" :]
    given = _positionals(words[-1], positional)
    known = ["--env", "LifeOps-v0", "--num-envs", "4", "--num-steps", "4"] if name in TRAINERS else []
    value = dice.choice(VALUES.get(kind, ANY))
    option = dice.choice(options or ["--help"])
    more = [option, value]
    if kind == "repeated":
        more = more * dice.choice((2, 3, 50)) + [option, dice.choice(NUMBERS)]
    elif kind == "missing":
        cut = dice.randrange(3)
        more, given, known = [option][: cut != 1], given[: cut == 2], known[: dice.randrange(len(known) + 1)]
    elif kind == "together":
        more = [word for _ in range(4) for word in (dice.choice(options or ["-h"]), dice.choice(ANY))]
    elif kind == "words":
        words = dice.choice((words, words, [value], [words[0][:-1]], [words[0].upper()], []))
        odd = ([value, value], [option + "=" + value], [option[:-1], value], ["--" + value], ["-x"])
        more = dice.choice(([value], *odd))
    if given and kind in ("names", "paths") and dice.random() < 0.4:
        given, more = [value], []
    return Line(program, (*words, *given, *known, *more))


def _positionals(command: str, count: int) -> list[str]:
    """Arguments that a command takes before its options."""
    usual = {"profile": "LifeOps-v0", "new": "lifeops", "schema": "lifeops", "check": "day.yaml", "show": "day.yaml"}
    return [usual.get(command, "run")] * min(count, 1)


@functools.cache
def _options() -> list[tuple[str, list[str], int]]:
    """(command, its options, how many arguments it takes before them) of all."""
    fields = [name for kind in (Config, Start) for name in _fields(kind)]
    numbers = ["--weights.overlap", "--departure-min", "--weights.nothing"]
    found = [(name, [*map(_option, fields), *numbers], 0) for name in TRAINERS]
    for name, function in commands.OTHERS.items():
        names = list(inspect.signature(function).parameters)
        count = sum(names[:1] == [first] for first in ("run_dir", "run_dirs", "env"))
        found.append((name, [_option(each) for each in names[count:]], count))
    server = ["--env", "--host", "--port", "--sessions", "--idle"]
    found += [("scenarios " + name, ["--help"], 1) for name in ("new", "check", "show", "schema")]
    return [*found, ("scenarios serve", server, 0)]


def _fields(kind: Any) -> Iterator[str]:
    """The names of the settings of a record and of its groups."""
    for field in dataclasses.fields(kind):
        group = field.default_factory() if callable(field.default_factory) else None  # pyright: ignore
        yield from _fields(type(group)) if dataclasses.is_dataclass(group) else [field.name]


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _furnish(place: pathlib.Path) -> None:
    """A new folder with a run, scenarios, and files that are neither."""
    shutil.rmtree(place, ignore_errors=True)
    for name in ("empty", "days"):
        (place / name).mkdir(parents=True)
    run_folder.create(Config(env="LifeOps-Shaped-v0", run_dir=place / "run"))
    shutil.copyfile(
        pathlib.Path(jaxenv.__file__).parent / "policies/LifeOps-Shaped-v0.msgpack", place / "run/policy.msgpack"
    )
    authoring_text = authoring.new("lifeops")
    (place / "day.yaml").write_text(authoring_text)
    (place / "days/one.yaml").write_text(authoring_text)
    (place / "bad.yaml").write_text("a: [")
    (place / "loop").symlink_to(place / "loop")
    (place / "link").symlink_to(place / "empty")


def _listing(place: pathlib.Path) -> set[str]:
    """The contents of a folder."""
    return {str(path.relative_to(place)) for path in place.rglob("*") if "__pycache__" not in path.parts}


@functools.cache
def _warm() -> None:
    """Imports the modules that only the first command waits for."""
    for program in ("train.cli.commands", "train.benchmark.profile", "jaxenv.rendering", "scenarios.solvers"):
        importlib.import_module(program)
    for id in jaxenv.registered():
        jaxenv.make(id)
    _has_server()
    with _idle(), contextlib.suppress(ValueError, Began):
        commands.COMMANDS["bench"](["--only", "LifeOps-v0"])  # which builds the programs


DAMAGES: dict[str, Callable[[random.Random], Line]] = {
    kind: functools.partial(_line, kind=kind)
    for kind in ("values", "names", "paths", "repeated", "missing", "together", "words")
}
