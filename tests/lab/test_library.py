"""`python -m lab library` writes what is shipped."""

from pathlib import Path

import pytest

from lab.library import main
from scenarios.libraries import SHIPPED
from scenarios.loading import ENVIRONMENTS


def test_it_writes_what_is_shipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    shipped = {}
    for name, format in ENVIRONMENTS.items():
        schema = f"{name}.schema.json"
        shipped[f"{name}.npz"] = format.environment.library.read_bytes()
        shipped[schema] = (SHIPPED / schema).read_bytes()
        monkeypatch.setattr(format.environment, "library", tmp_path / f"{name}.npz")
    monkeypatch.setattr("lab.library.SHIPPED", tmp_path)
    assert main([]) == 0
    assert "12 scenarios" in capsys.readouterr().out
    for file, content in shipped.items():
        written = (tmp_path / file).read_bytes()
        assert len(written) == len(content)
        assert written == content or file.endswith(".npz")  # which holds the time
