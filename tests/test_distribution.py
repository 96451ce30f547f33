"""What a stranger gets: the wheel, and the code of the pages."""

import os
import re
import subprocess
import sys
from pathlib import Path

import jax
import pytest

ROOT = Path(__file__).parents[1]


def run(*command, cwd, **environment):
    found = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=os.environ | environment, capture_output=True, text=True
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


@pytest.mark.slow
def test_a_built_wheel_carries_the_library_and_works_from_another_folder(tmp_path):
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path, ROOT, cwd=tmp_path)
    (wheel,) = tmp_path.glob("jaxenv-*.whl")
    site, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    elsewhere.mkdir()
    run(*pip, "install", "--no-deps", "--no-index", "--target", site, wheel, cwd=tmp_path)
    program = """
import jax, jaxenv, scenarios, train
assert "site" in jaxenv.__file__ and "site" in scenarios.__file__ and "site" in train.__file__
env, params = jaxenv.make("LifeOps-v0")
print(len(scenarios.load("lifeops").ids), params.bank.size, env.reset(jax.random.key(0), params)[0].action_mask.sum())
"""
    assert run(sys.executable, "-c", program, cwd=elsewhere, PYTHONPATH=str(site)).startswith("12 12 ")
    assert (site / "jaxenv" / "py.typed").exists()
    assert not (site / "examples").exists()
    assert (site / "jaxenv" / "rendering" / "player.html").exists()
    assert (site / "scenarios" / "playing" / "page.html").exists()


@pytest.mark.slow
def test_the_code_of_the_readme_and_of_the_page_of_the_environments_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pages = [(ROOT / name).read_text("utf-8") for name in ("README.md", "docs/environments.md")]
    blocks = re.findall(r"```python\n(.*?)```", "\n".join(pages), re.DOTALL)
    runnable = [block for block in blocks if "import" in block]
    assert len(runnable) == 5
    exec("\n".join(runnable), {"__name__": "readme"})
    assert {path.name for path in tmp_path.iterdir()} == {"state.png", "episode.png", "step.png", "episode.gif"}


@pytest.mark.slow
def test_the_code_of_the_training_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "training.md").read_text(), re.DOTALL)
    examples = "".join(path.read_text("utf-8") for path in (ROOT / "examples").glob("*.py"))
    blocks = [block for block in blocks if block not in examples]  # which run in tests/examples
    assert len(blocks) == 1
    with jax.numpy_rank_promotion("allow"):
        for block in blocks:
            exec(block, {"__name__": "page"})
    assert "65,536 steps  return" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())
