"""The folder of a run: its settings, metrics, policy and checkpoints."""

import contextlib
import dataclasses
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import jax

from jaxenv.host.names import short
from jaxenv.host.regular_files import UNFINISHED, read_regular, sync_folder
from train.processes import is_writer, wait_for_all
from train.save.writing import naming, remove_unfinished, write_atomic
from train.settings.config import Config
from train.settings.serialize import from_json, to_json

try:
    import fcntl
except ModuleNotFoundError as error:
    raise ImportError("training needs Linux or macOS; on Windows, WSL") from error

RUNS = Path("runs")
MAX_REASON = 500  # characters of why they are refused
MAX_SETTINGS = 1_000_000  # bytes of a file of settings, which has some thousands


@dataclasses.dataclass
class RunFolder:
    """The files of one run."""

    path: Path

    def __post_init__(self) -> None:
        """Names the files, which need not be there."""
        self.config = self.path / "config.json"  # the settings
        self.metrics = self.path / "metrics.jsonl"  # a line of JSON per superstep
        self.policy = self.path / "policy.msgpack"  # weights, and everything needed to act with them
        # The policy with the best validation return so far; there is none before the first validation.
        self.best_policy = self.path / "policy_best.msgpack"
        self.checkpoints = self.path / "checkpoints"  # a folder, from which the run resumes
        # A folder with one checkpoint: the state before an update whose loss was not finite.
        # `Checkpoints(folder.not_finite, folder.read_config())` opens it, and `Group.restore_or_begin` reads it.
        self.not_finite = self.path / "not_finite"
        self.learning_curve = self.path / "learning_curve.png"  # the metrics as a picture
        self.validation = self.path / "validation.json"  # name -> validation return of each baseline, once it is scored

    @property
    def has_results(self) -> bool:
        """Whether anything was trained here, by the run or by a member of the population."""
        own = ("metrics.jsonl", "policy*.msgpack", "not_finite", "checkpoints*/[0-9]*")
        found = (each for name in own for place in ("", "*/") for each in self.path.glob(place + name))
        return any(each.is_dir() or each.stat().st_size for each in found)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Locks the run against other runs; a ValueError if one holds the lock. A kill releases it too.

        Of several processes of one run the one that writes holds the lock.
        """
        if not is_writer():
            yield
            return
        with contextlib.ExitStack() as stack:
            handle = os.open(self.path, os.O_RDONLY)
            stack.callback(os.close, handle)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise ValueError(f"{self.path} is being written by another process") from error
            remove_unfinished(self.path)
            yield

    def write_config(self, config: Config) -> None:
        """Writes the settings; of several processes one does."""
        if not is_writer():
            return
        settings = to_json(dataclasses.replace(config, run_dir=self.path))
        write_atomic(self.config, (json.dumps(settings, indent=2) + "\n").encode())

    def read_config(self) -> Config:
        """The settings, with `run_dir` where the run is found now; a ValueError if they are missing or broken."""
        try:
            settings = json.loads(read_regular(self.config, MAX_SETTINGS).decode())
            return dataclasses.replace(from_json(settings), run_dir=self.path)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise ValueError(f"{self.path} is not a run folder: {self.config} does not exist") from error
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            reason = short(str(error), MAX_REASON)
            raise ValueError(f"{self.config} does not hold the settings of a run: {reason}") from error

    def write_validation(self, returns: Mapping[str, float]) -> None:
        """Writes the validation returns of the baselines."""
        write_atomic(self.validation, (json.dumps(dict(returns), indent=2) + "\n").encode())

    def read_validation(self) -> dict[str, float]:
        """The validation returns of the baselines, none before they are scored; a ValueError if they are broken."""
        try:
            found = json.loads(read_regular(self.validation, MAX_SETTINGS).decode())
            return {short(name): float(value) for name, value in found.items()}
        except FileNotFoundError:
            return {}
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"{self.validation} does not hold validation returns: {error}") from error


def create(config: Config) -> RunFolder:
    """Makes a new run folder with its settings, so that it can be resumed from then on.

    Raises:
        ValueError: for settings that cannot be saved.
        FileExistsError: if there is something at its path already.
    """
    to_json(config)  # raises for what cannot be saved
    if jax.process_count() > 1 and config.run_dir is None:
        raise ValueError("several processes need --run-dir PATH, in a file system that all of them see")
    path = config.run_dir or _first_free(f"{config.env}-{config.seed}")
    run_folder = RunFolder(path)
    if is_writer():
        # A folder is free if it is empty, or has the remains of a run that was killed before it had settings.
        is_free = path.is_dir() and all(each.name.endswith(UNFINISHED) for each in path.iterdir())
        if path.exists() and not is_free:
            raise FileExistsError(
                f"{path} already exists: resume that run with --resume {path}, or choose another --run-dir"
            )
        with naming(path):
            path.mkdir(parents=True, exist_ok=True)
        sync_folder(path.parent)
        run_folder.write_config(config)
    wait_for_all("run folder created")
    return run_folder


@contextlib.contextmanager
def of_run(config: Config, existing: RunFolder | None = None) -> Iterator[RunFolder]:
    """The folder that a run writes to: one that exists, or a new one.

    A new one is taken back where an error ends the run before it has trained anything, so that the corrected call finds
    the place free. A kill or an interruption leaves it, to be resumed.

    Raises:
        FileExistsError: if there is something at the path of a new one.
    """
    if existing is not None:
        yield existing
        return
    was_there = config.run_dir is not None and config.run_dir.exists()
    run_folder = create(config)
    try:
        yield run_folder
    except Exception:
        with contextlib.suppress(ValueError, OSError), run_folder.locked():  # another process may write there
            if is_writer() and not run_folder.has_results:
                shutil.rmtree(run_folder.path)
                if was_there:
                    run_folder.path.mkdir()
        raise


def runs_in(path: Path) -> list[RunFolder]:
    """The run in a folder, or the members of the population that it holds, by their values and seeds.

    A folder with metrics or a policy is that of a run, whatever lies in it.
    """
    run = RunFolder(path)
    found = () if run.metrics.exists() or run.policy.exists() else path.glob("*/config.json")
    return [RunFolder(each) for each in sorted((each.parent for each in found), key=_by_values)] or [run]


def policy_path(path: Path, *, best: bool = False) -> Path:
    """The policy file that a path names: of a run folder the last or the best policy, or the path itself.

    Raises:
        ValueError: if the best policy is missing, and for the folder of a population.
    """
    run = RunFolder(path)
    if run.config.exists() and not run.policy.exists() and (member := runs_in(path)[0].path) != path:
        raise ValueError(f"{path} is a population: choose a member, such as {member}")
    if not best:
        return RunFolder(path).policy if path.is_dir() else path
    found = RunFolder(path).best_policy
    if not found.exists():
        raise ValueError(f"{found} does not exist: only a run folder has one, from the first validation on")
    return found


def _by_values(path: Path) -> list[tuple[str, float, str]]:
    """Sorts `learning_rate=3e-4,seed=0` before `learning_rate=1e-3,seed=0`, and other names as text."""
    pairs = [part.partition("=") for part in path.name.split(",")]
    return [(name, _number(value), value) for name, _, value in pairs]


def _number(text: str) -> float:
    """The number in a text, 0 if there is none."""
    try:
        return float(text)
    except ValueError:
        return 0.0


def _first_free(stem: str) -> Path:
    """The new folder runs/STEM-N with the first free N; two processes that look at once get two."""
    number = 0
    while True:
        path = RUNS / f"{stem}-{number}"
        with naming(path), contextlib.suppress(FileExistsError):
            path.mkdir(parents=True)
            return path
        number += 1
