"""The pages: links find their ends, names exist, commands are accepted, code runs and prints what stands below it.

In tutorials, recipes and the page on environments a block of Python runs after the ones before it, those of a page (of
recipes, of a section) in one namespace and an empty folder. A block of `text` right below it is what it prints. After
`<!-- slow -->` a block runs with the slow tests alone; where the first block of a page does, all do. Of shell blocks
the lines of `jaxenv` run, in order and with the slow tests, training in small sizes; those after
`<!-- not run: REASON -->` do not.
"""

import ast
import contextlib
import importlib
import io
import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import jax
import pytest

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), ROOT / "examples" / "README.md"]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
GUIDES = [*TUTORIALS, ROOT / "docs" / "recipes.md", ROOT / "docs" / "environments.md"]

BLOCK = re.compile(r"(<!-- slow -->\n\n)?```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
SHELL = re.compile(r"(<!-- not run: [^\n]*-->\n\n)?```sh\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


def units():
    """(name, text) of what runs in one namespace: a tutorial, a section of the recipes."""
    for page in GUIDES:
        text = page.read_text("utf-8")
        parts = re.split(r"^(?=## )", text, flags=re.MULTILINE) if page.stem == "recipes" else [text]
        for part in parts:
            yield f"{page.stem}: {part.splitlines()[0].strip('# ')}", part


UNITS = dict(units())
PROGRAMS = {name: BLOCK.findall(text) for name, text in UNITS.items() if BLOCK.search(text)}
QUICK = [name for name, blocks in PROGRAMS.items() if not blocks[0][0]]
COMMANDS = {
    name: "".join(lines for excluded, lines in SHELL.findall(text) if not excluded and "jaxenv " in lines)
    for name, text in UNITS.items()
}


def run_blocks(blocks, folder, monkeypatch):
    monkeypatch.chdir(folder)
    namespace = {"__name__": "page"}
    with jax.numpy_rank_promotion("allow"):
        for _, code, expected in blocks:
            with contextlib.redirect_stdout(io.StringIO()) as said:
                exec(compile(code, "page", "exec"), namespace)
            assert not expected or said.getvalue() == expected, code


@pytest.mark.parametrize("name", QUICK)
def test_the_quick_code_of_a_page_runs(name, tmp_path, monkeypatch):
    run_blocks([block for block in PROGRAMS[name] if not block[0]], tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, blocks in PROGRAMS.items() if any(slow for slow, *_ in blocks)])
def test_all_code_of_a_page_runs(name, tmp_path, monkeypatch):
    run_blocks(PROGRAMS[name], tmp_path, monkeypatch)


# ------------------------------------------------------------------------------------------------- names

PYTHON = re.compile(r"^ *```python\n(.*?)```", re.DOTALL | re.MULTILINE)
CODE = {
    f"{page.stem}-{number}": textwrap.dedent(code).strip()
    for page in PAGES
    for number, code in enumerate(PYTHON.findall(page.read_text("utf-8")))
}
OURS = ("jaxenv", "scenarios", "train")


@pytest.mark.parametrize("name", CODE)
def test_the_names_in_the_code_of_a_page_exist(name):
    tree = ast.parse(CODE[name])
    modules = {package: importlib.import_module(package) for package in OURS}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] in OURS:
            found = importlib.import_module(node.module)
            for each in node.names:
                if not hasattr(found, each.name):
                    importlib.import_module(f"{node.module}.{each.name}")
        if isinstance(node, ast.Attribute) and (path := dotted(node)) and path[0] in OURS:
            value = modules[path[0]]
            for part in path[1:]:
                if isinstance(value, type(ast)):  # what lies inside an instance is not known before it runs
                    try:
                        value = getattr(value, part)
                    except ImportError as error:  # which names the extra
                        if "pip install" not in str(error):
                            raise
                        pytest.skip(str(error))


def dotted(node):
    """The names of `a.b.c`; None where it begins with something else than a name."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_installs_what_is_there(page):
    """The project is not on PyPI: its pages install a checkout or a wheel."""
    if page.stem != "CONTRIBUTING":  # which tells of the time after a release
        assert not re.search(r"pip install\b[^\n#]*[ '\"]jaxenv\b", page.read_text("utf-8"))


# ---------------------------------------------------------------------------------------------- commands


def commands():
    """The lines of all pages that call `jaxenv`, as arguments, without comments and the placeholder of a run."""
    for page in PAGES:
        for block in re.findall(r"```sh\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            for line in block.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                if "jaxenv" in words and "…" not in line:
                    yield page.stem, words[words.index("jaxenv") + 1 :]


@pytest.mark.slow
def test_training_commands_on_the_pages_are_accepted():
    from train.cli import options

    found = {tuple(words) for _, words in commands() if words[0] in ("ppo", "pqn", "dqn") and "--env" in words}
    assert len(found) > 20
    for algorithm, *arguments in sorted(found):
        where = arguments[arguments.index("--env") + 1]
        if ":" not in where:
            assert options.parse(algorithm, arguments).config.env == where


@pytest.mark.parametrize("page", ["scaling", "recipes"])
def test_every_large_batch_on_a_page_is_a_run_that_learns(page):
    """The first lines of each say what the number of environments changes, and call none of them short."""
    from train.cli import options
    from train.run import progress

    large = [words for name, words in commands() if name == page and re.search(r"--num-envs|large", " ".join(words))]
    assert len(large) >= {"scaling": 4, "recipes": 2}[page]
    for algorithm, *arguments in large:
        parsed = options.parse(algorithm, arguments)
        assert "environments (the preset has" in parsed.scaled[0], arguments
        assert "short run" not in progress.length(parsed.config), arguments


def test_options_of_other_commands_on_the_pages_exist(capsys):
    from jaxenv.__main__ import main

    found = {}
    for _, (command, *words) in commands():
        if command not in ("ppo", "pqn", "dqn"):
            name = (command, words[0]) if command == "scenarios" else (command,)
            found.setdefault(name, set()).update(word for word in words if word.startswith("--"))
    assert {("evaluate",), ("collect",), ("plot",), ("bench",), ("scenarios", "check")} <= set(found)
    for name, options in found.items():
        assert main([*name, "--help"]) == 0
        text = capsys.readouterr().out
        assert [option for option in sorted(options) if not re.search(rf"{option}(?![\w-])", text)] == [], name


SMALLER = """
MORE=1024
jaxenv() {
    case "$1:$*" in
        ppo:*--resume*) MORE=$((MORE + 1024)); "$PYTHON" -m jaxenv "$@" --total-steps $MORE ;;
        ppo:*) "$PYTHON" -m jaxenv "$@" --total-steps 1024 --num-envs 64 --num-steps 8 --minibatch-size 256 \
            --updates-per-superstep 2 --count 64 --validate-every 0 --hidden 32 --encoder flat ;;
        collect:*) "$PYTHON" -m jaxenv "$@" --episodes 16 --at-once 16 ;;
        *) "$PYTHON" -m jaxenv "$@" ;;
    esac
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, lines in COMMANDS.items() if lines])
def test_the_commands_of_a_page_run(name, tmp_path, monkeypatch):
    written = [code.partition("mine = ")[0] for _, code, _ in PROGRAMS.get(name, []) if "write_text" in code]
    run_blocks([("", code, "") for code in written], tmp_path, monkeypatch)
    lines = [line for line in COMMANDS[name].splitlines() if "jaxenv " in line.partition("#")[0]]
    script = "\n".join([SMALLER, "set -ex", *lines])
    cache = {"JAX_COMPILATION_CACHE_DIR": os.environ.get("PAGES_CACHE", str(tmp_path / "cache"))}
    environment = {**os.environ, **cache, "PYTHON": sys.executable, "RUN_DIR": "mine"}
    found = subprocess.run(
        ["bash", "-c", script.replace("RUN_DIR", "mine")], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert found.returncode == 0, found.stdout + found.stderr


# ------------------------------------------------------------------------------------------------- links


def anchors(text):
    """Those of the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE)
    plain = [re.sub(r"[^\w\s-]", "", re.sub(r"[`*]", "", heading)).strip().lower() for heading in headings]
    return {re.sub(r"[\s]+", "-", heading) for heading in plain} | {heading.replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_links_of_a_page_find_their_ends(page):
    for link in LINK.findall(FENCE.sub("", page.read_text("utf-8"))):
        if re.match(r"(https?:|mailto:)", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target.read_text("utf-8")), link


def test_every_recipe_is_in_the_table_on_top():
    text = (ROOT / "docs" / "recipes.md").read_text("utf-8")
    table, *_ = re.split(r"^## ", text, maxsplit=1, flags=re.MULTILINE)
    linked = {anchor for path, anchor in re.findall(r"\]\(([^)#]*)#([^)]+)\)", table) if not path}
    assert linked <= anchors(text)
    assert len(linked) == len(re.findall(r"^## ", text, re.MULTILINE))


def test_every_recipe_writes_into_a_run_folder_of_its_own():
    text = (ROOT / "docs" / "recipes.md").read_text("utf-8")
    names = [shell or python for shell, python in re.findall(r'--run-dir (\w+)|run_dir=Path\("(\w+)"\)', text)]
    assert len(names) == len(set(names)) > 8, names


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_the_code_of_a_tutorial_makes_folders_that_no_command_above_it_has_made(page):
    above, made, _ = re.split(r'Path\("(\w+)"\)\.mkdir\(\)', page.read_text("utf-8"))
    written = re.findall(r"scenarios new \w+ (\w+)/", above)
    assert written
    assert made not in written


def test_the_gallery_shows_what_its_script_makes_and_is_small():
    folder = ROOT / "docs" / "gallery"
    page = (ROOT / "docs" / "gallery.md").read_text("utf-8")
    script = (ROOT / "lab" / "pages" / "gallery.py").read_text("utf-8")
    made = re.findall(r'^    "([\w.]+)": lambda', script, re.MULTILINE)
    assert set(made) == {path.name for path in folder.iterdir()} == set(re.findall(r"gallery/([\w.]+)\)", page))
    assert sum(path.stat().st_size for path in folder.iterdir()) < 1_500_000


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lifeops_day.png", "lifeops_deadline.gif", "lifestack_crisis.png"])
def test_the_gallery_is_made(name, tmp_path):
    pytest.importorskip("matplotlib")
    subprocess.run([sys.executable, "-m", "lab", "gallery", name, "--out", tmp_path], check=True, cwd=ROOT)
    assert (tmp_path / name).stat().st_size > 10_000
