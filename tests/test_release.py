"""What is released: the archives and their contents, the versions that name them, and a stranger's first commands."""

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import jaxenv
from jaxenv.policies import released

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PACKAGES = ("jaxenv", "scenarios", "train")
VERSION = jaxenv.__version__
DATA = {".py", ".yaml", ".json", ".npz", ".msgpack", ".typed", ".html"}
UNREACHABLE = re.compile(r"NewConnectionError|ConnectTimeout|Max retries exceeded|Temporary failure in name resolution")


def run(*command, cwd, **environment):
    found = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=os.environ | environment, capture_output=True, text=True
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def build(out, *what, cwd=ROOT):
    """Builds with the build backend that is installed, at a date of its own."""
    pytest.importorskip("build", reason="the extra `release` is not installed")
    command = (sys.executable, "-m", "build", "--no-isolation", "--outdir", out, *what)
    run(*command, cwd=cwd, SOURCE_DATE_EPOCH="1700000000")


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """A folder with the source archive, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    build(folder)
    return folder


def wheel_of(folder):
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def wheel(dist):
    with zipfile.ZipFile(wheel_of(dist)) as archive:
        yield archive


@pytest.fixture(scope="module")
def source(dist):
    """The names in the source archive, without its folder."""
    (path,) = dist.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        return {member.name.partition("/")[2] for member in archive if member.isfile()}


def test_the_wheel_has_every_file_of_the_three_packages_and_nothing_else(wheel):
    info = f"jaxenv-{VERSION}.dist-info"
    inside = {name for name in wheel.namelist() if not name.startswith(info)}
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.suffix in DATA)
    assert inside == {path.relative_to(ROOT).as_posix() for path in files}
    assert not [name for name in inside if name.startswith(("lab/", "tests/"))]
    assert f"{info}/licenses/LICENSE" in wheel.namelist()
    assert "jaxenv=jaxenv.__main__:run" in wheel.read(f"{info}/entry_points.txt").decode().replace(" ", "")


@pytest.mark.parametrize(
    "name",
    [
        *(f"{package}/py.typed" for package in PACKAGES),
        *(f"jaxenv/envs/{family}/library.npz" for family in ("lifeops", "lifestack", "teamsclone", "week")),
        *(f"jaxenv/policies/{id}.msgpack" for id in released()),
        "scenarios/library/lifeops/s1_basic_conflict.yaml",
        "scenarios/library/lifeops.example.yaml",
        "scenarios/library/returns.json",
    ],
)
def test_the_wheel_has_what_is_no_code(wheel, name):
    assert wheel.getinfo(name).file_size > 0 or name.endswith("py.typed")


def test_the_metadata_say_what_pyproject_says(wheel):
    found = Parser().parsestr(wheel.read(f"jaxenv-{VERSION}.dist-info/METADATA").decode())
    project = PROJECT["project"]
    assert found["Version"] == project["version"] == VERSION
    assert found["Requires-Python"] == project["requires-python"]
    assert found["License-Expression"] == project["license"]
    assert set(found.get_all("Provides-Extra")) == set(project["optional-dependencies"])
    assert "Typing :: Typed" in found.get_all("Classifier")
    assert found.get_payload() == (ROOT / "README.md").read_text("utf-8")


def test_the_source_archive_has_what_its_tests_and_pages_need(source):
    for name in PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]:
        path = ROOT / name.removeprefix("/")
        assert path.exists(), name
        files = path.rglob("*") if path.is_dir() else [path]
        expected = {each.relative_to(ROOT).as_posix() for each in files if each.is_file() and each.suffix != ".pyc"}
        assert expected <= source
    assert {"README.md", "LICENSE", "pyproject.toml", "PKG-INFO"} <= source
    assert not [name for name in source if name.endswith(".pyc") or name.startswith((".venv", "runs/", "site/"))]


@pytest.mark.slow
def test_two_builds_give_the_same_bytes(dist, tmp_path):
    again = tmp_path / "again"
    build(again, "--wheel")  # from the checkout, where the first one was built from the source archive
    assert wheel_of(again).read_bytes() == wheel_of(dist).read_bytes()
    build(again, "--sdist")
    (first,), (second,) = dist.glob("*.tar.gz"), again.glob("*.tar.gz")
    assert first.read_bytes() == second.read_bytes()


def test_a_registry_would_take_the_archives(dist):
    pytest.importorskip("twine", reason="the extra `release` is not installed")
    found = run(sys.executable, "-m", "twine", "--no-color", "check", "--strict", *dist.iterdir(), cwd=dist)
    assert found.count("PASSED") == 2


def test_one_version_everywhere():
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)
    assert PROJECT["project"]["version"] == VERSION
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text("utf-8")


def test_the_changelog_keeps_its_form():
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    versions = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert versions[0] == "[Unreleased]"
    numbers = []
    for heading in versions[1:]:
        found = re.fullmatch(r"\[(\d+)\.(\d+)\.(\d+)\] - \d{4}-\d{2}-\d{2}", heading)
        assert found, heading
        numbers.append(tuple(map(int, found.groups())))
    assert numbers == sorted(set(numbers), reverse=True)
    assert max(numbers, default=(0, 0, 0)) <= tuple(map(int, VERSION.split(".")))
    sections = re.findall(r"^### (.*)$", text, re.MULTILINE)
    assert set(sections) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


STEP = """
import jax, jaxenv
env, params = jaxenv.make("LifeOps-v0")
observation, state = env.reset(jax.random.key(0), params)
action = jaxenv.masking.sample_uniform(jax.random.key(1), observation.action_mask)
observation, state, reward, terminated, truncated, info = env.step(jax.random.key(2), state, action, params)
assert not bool(info["invalid_action"])
print(jaxenv.__file__)
"""
SHORT = ("--total-steps", "1024", "--num-envs", "64", "--minibatch-size", "256", "--updates-per-superstep", "2")


@pytest.mark.slow
@pytest.mark.parametrize("constraint", [(), ("--constraint", ROOT / "constraints.txt")], ids=["newest", "pinned"])
@pytest.mark.parametrize("extra", ["cuda12", "cuda13", "tpu"])
def test_jax_for_a_device_resolves(extra, constraint, tmp_path):
    """With the trainer, on a machine that has nothing yet; minutes each, as pip fetches wheels to read their needs."""
    report = tmp_path / "report.json"
    options = ("--dry-run", "--ignore-installed", "--quiet", "--report", report, *constraint)
    run(sys.executable, "-m", "pip", "install", *options, f"{ROOT}[train,{extra}]", cwd=tmp_path)
    names = {each["metadata"]["name"] for each in json.loads(report.read_text())["install"]}
    plugin = "libtpu" if extra == "tpu" else f"jax-{extra}-plugin"
    assert {"jax", "optax", plugin} <= names


@pytest.mark.slow
def test_a_stranger_installs_the_wheel_and_trains(dist, tmp_path):
    """Into a new virtual environment, from the registry, in a folder that knows nothing of this checkout."""
    venv.create(tmp_path / "venv", with_pip=True)
    bin, folder = tmp_path / "venv" / "bin", tmp_path / "elsewhere"
    folder.mkdir()
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "XLA_"))}
    clean |= {"JAX_PLATFORMS": "cpu", "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "cache")}
    options = ("--quiet", "--disable-pip-version-check", "--constraint", ROOT / "constraints.txt")

    def stranger(program, *arguments):
        command = [str(bin / program), *map(str, arguments)]
        found = subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True)
        said = found.stdout + found.stderr
        if UNREACHABLE.search(said) and program == "pip":
            pytest.fail(f"the package registry cannot be reached, so nothing was tested:\n{said[-1000:]}")
        assert found.returncode == 0, said
        return found.stdout

    stranger("pip", "install", *options, f"jaxenv[train] @ {wheel_of(dist).as_uri()}")
    stranger("pip", "check")
    assert str(bin.parent) in stranger("python", "-c", STEP)
    assert stranger("jaxenv", "--help").startswith("usage: jaxenv COMMAND")
    stranger("jaxenv", "scenarios", "new", "lifeops", "my_days/monday.yaml")
    stranger("jaxenv", "scenarios", "check", "my_days")
    library = Path(stranger("python", "-c", "import scenarios; print(scenarios.libraries.SHIPPED)").strip())
    assert "1 scenario" in stranger("jaxenv", "scenarios", "check", library / "lifeops" / "s1_basic_conflict.yaml")
    table = stranger("jaxenv", "ppo", "--env", "LifeOps-Shaped-v0", *SHORT, "--run-dir", "run")
    assert "mean score" in table
    assert (folder / "run" / "policy.msgpack").exists()
