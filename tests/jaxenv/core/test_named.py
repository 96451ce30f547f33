"""What the command line names as MODULE:NAME."""

import sys

import pytest

from jaxenv.host.named import import_named


def test_a_module_of_the_current_folder_is_found(current_folder):
    (current_folder / "mine_alone.py").write_text("def make():\n    return 7\n")
    assert import_named("mine_alone:make", "--env")() == 7
    with pytest.raises(ValueError, match="--env mine_alon:make: No module named 'mine_alon'"):
        import_named("mine_alon:make", "--env")


def test_a_file_of_the_current_folder_hides_no_module(current_folder, monkeypatch):
    (current_folder / "colorsys.py").write_text("raise AssertionError\n")
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    assert import_named("colorsys:rgb_to_hsv", "--network").__module__ == "colorsys"
    assert sys.path.count(str(current_folder)) == 1
