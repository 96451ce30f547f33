"""Settings and metrics of a run that somebody edited: `--resume` accepts them, or reports the mistake.

Links in the folder lead to files of somebody else, which stay as they are.
"""

import contextlib
import functools
import json
import math
import random
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from lab.fuzz import checkpoints, edits
from lab.fuzz.judging import Fault, answered, check_sentence
from train.cli import options
from train.log.metrics import MetricsWriter
from train.log.recorder import Recorder
from train.save.checkpoint import Checkpoints
from train.save.description import Progress
from train.save.folder import RunFolder
from train.settings import task
from train.settings.config import Config
from train.settings.groups import Network
from train.settings.serialize import immutable, to_json

SECONDS = 3.0  # of computing, for one mutant
RECORDS = 6  # of which those from `checkpoints.STEPS[-1]` on would be dropped
CONFIG = Config(env="LifeOps-v0", network=Network(hidden=(8,)), tensorboard=False)


class Mutant(NamedTuple):
    """The contents of files of a run folder; None for one that is missing."""

    files: dict[str, bytes | None]
    links: tuple[str, ...] = ()  # that lead to the same contents elsewhere, or to others where there is no such file

    def write(self, folder: Path) -> Path:
        """Writes the folder as it was, then the files."""
        path = folder / "run"
        shutil.copytree(original(), path)
        for name, content in self.files.items():
            (path / name).write_bytes(content or b"")
            if content is None:
                (path / name).unlink()
        for name in self.links:
            there = _strange(folder, path / name)
            (path / name).unlink(missing_ok=True)
            (path / name).symlink_to(there)
        return path


def _strange(folder: Path, file: Path) -> Path:
    """A file of somebody else, with the contents of a file if there is one."""
    (folder / "strange").mkdir(exist_ok=True)
    there = folder / "strange" / file.name
    there.write_bytes(file.read_bytes() if file.is_file() else b"theirs")
    return there


@functools.cache
def original() -> Path:
    """A run folder with settings, metrics and a checkpoint, which lasts as long as the process."""
    folder = RunFolder(checkpoints.new_folder() / "run")
    folder.path.mkdir()
    env, params = task.make(CONFIG)
    config = task.complete(CONFIG, env, params)
    folder.write_config(config)
    with MetricsWriter(folder.metrics) as writer:
        for step in range(RECORDS):
            writer.write({"superstep": step, "return": step / 3, "length": None, "env_steps": step * 2**33})
    with Checkpoints(folder.checkpoints, config) as saved:
        saved.save(checkpoints.state(4), Progress(superstep=4, env_steps=4 * 2**33, seconds=1.0, scenarios=""))
    return folder.path


def judge(mutant: Mutant, folder: Path) -> str:
    """The message with which a run is not resumed; "" where it is, with its settings and its earlier records.

    Raises:
        Fault: for whatever else comes of it.
    """
    _prepare()
    path = mutant.write(folder)
    theirs = _contents(folder / "strange")
    try:
        return _judge(path)
    finally:
        if _contents(folder / "strange") != theirs:
            raise Fault("a file of somebody else has changed")


def _contents(folder: Path) -> dict[str, bytes]:
    """The files in a folder, if there is one."""
    return {path.name: path.read_bytes() for path in folder.glob("*")}


def _judge(path: Path) -> str:
    """The same for a folder."""
    with answered(SECONDS):
        try:
            config, records, arrays = resume(path)
        except (ValueError, FileNotFoundError) as error:
            check_sentence(str(error), "--wandb" if "--wandb" in str(error) else str(path))
            return str(error)
    if immutable(to_json(config)) != immutable(to_json(_before())):
        raise Fault("other settings than those of its checkpoint")
    lines = (path / "metrics.jsonl").read_bytes().split(b"\n")[:-1]
    if records != [each for each in map(_record, lines) if each["superstep"] < 4]:
        raise Fault("other records than those in the file")
    if any(array.dtype.kind not in "if" for array in arrays.values()):
        raise Fault("records of which no curve can be drawn")
    return ""


def resume(path: Path) -> tuple[Config, list[dict[str, Any]], dict[str, Any]]:
    """Settings, earlier records and their columns, as `--resume` reads them before it compiles."""
    config = options.parse("ppo", ["--resume", str(path)]).config
    env, params = task.make(config)
    config, run = task.complete(config, env, params), RunFolder(path)
    run.write_config(config)
    with Checkpoints(run.checkpoints, config) as saved:
        saved.check_begun(run.policy)
        progress = saved.newest()
        assert progress is not None
    with contextlib.ExitStack() as stack:
        recorder = Recorder(stack, config, run, progress)
        return config, list(recorder.records), recorder.arrays()


def _record(line: bytes) -> dict[str, Any]:
    """A line of the metrics as it is kept: numbers that are not finite are null."""
    record = json.loads(line)
    return {name: None if isinstance(x, float) and not math.isfinite(x) else x for name, x in record.items()}


@functools.cache
def _before() -> Config:
    """The settings of the original."""
    return RunFolder(original()).read_config()


@functools.cache
def _prepare() -> None:
    """Imports and compiles the programs that only the first run waits for."""
    with tempfile.TemporaryDirectory() as folder:
        resume(Mutant({}).write(Path(folder)))


def _settings(dice: random.Random) -> Mutant:
    """Settings of other values and types, left out, renamed or added."""
    settings = json.loads((original() / "config.json").read_text("utf-8"))
    return Mutant({"config.json": _text(edits.changed(dice, settings, edits.rearranged, edits.replaced))})


def _records(dice: random.Random) -> Mutant:
    """Records of other values and types, and lines that are not records."""
    lines = (original() / "metrics.jsonl").read_bytes().splitlines()
    for place in dice.sample(range(len(lines)), dice.choice((1, 1, 3))):
        record = json.loads(lines[place])
        number = {**record, dice.choice(list(record)): dice.choice(edits.NUMBERS)}
        odd = edits.changed(dice, record, edits.rearranged, edits.replaced)
        lines[place] = dice.choice((_text(number), _text(number), _text(odd), _text(odd), dice.choice(LINES)))
    return Mutant({"metrics.jsonl": b"".join(line + b"\n" for line in lines)})


LINES = (b"", b"junk", b"\xff\x00", b"[" * 9999, b"1" * 9999, b"{}", b'{"superstep": NaN}')
STRAY = ("policy.msgpack", "policy_best.msgpack", "metrics.jsonl.unfinished", "config.json.unfinished")


LINKED = ("config.json", "metrics.jsonl", "policy.msgpack", "checkpoints.begun", "wandb_id", *STRAY)


def _linked(dice: random.Random) -> Mutant:
    """Links in the place of files that a run writes, or may write."""
    return Mutant({}, tuple(dict.fromkeys(dice.choices(LINKED, k=dice.choice((1, 2, 3))))))


def _text(value: Any) -> bytes:
    return json.dumps(value, default=str, skipkeys=True).encode("utf-8", "surrogatepass")


def _damaged(dice: random.Random) -> Mutant:
    """Bytes of a file that are changed or cut, or the whole file missing."""
    name = dice.choice(("config.json", "metrics.jsonl"))
    content = (original() / name).read_bytes()
    return Mutant({name: dice.choice((edits.flipped(dice, content), edits.cut(dice, content), None))})


def _stray(dice: random.Random) -> Mutant:
    """Files that a run may have, with something else in them."""
    return Mutant({dice.choice(STRAY): dice.choice((b"", b"junk\n", b"\xff" * 99, b"\x80", b"\x81\xa6format\xa1x"))})


DAMAGES: dict[str, Callable[[random.Random], Mutant]] = {
    "settings": _settings,
    "records": _records,
    "bytes": _damaged,
    "other files": _stray,
    "links": _linked,
}
