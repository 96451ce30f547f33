"""What the command line names as MODULE:NAME."""

import sys

import pytest

from train.networks import custom
from train.settings.groups import Network


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, in which an installed command does not look for modules by itself."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    yield tmp_path
    sys.modules.pop("mine_alone", None)


def test_a_module_of_the_current_folder_is_found(folder):
    (folder / "mine_alone.py").write_text("def make():\n    return 7\n")
    assert custom.import_named("mine_alone:make", "--env")() == 7
    with pytest.raises(ValueError, match="--env mine_alon:make: No module named 'mine_alon'"):
        custom.import_named("mine_alon:make", "--env")


def test_a_file_of_the_current_folder_hides_no_module(folder, monkeypatch):
    (folder / "colorsys.py").write_text("raise AssertionError\n")
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    assert custom.import_named("colorsys:rgb_to_hsv", "--network").__module__ == "colorsys"
    assert sys.path.count(str(folder)) == 1


NETS = "import flax.linen as nn\n\n\nclass Mine(nn.Module):\n    width: int = 8\n\n\nclass Other(Mine):\n    pass\n"


def test_a_class_of_the_program_that_trained_is_that_of_its_name_in_a_module(folder, monkeypatch):
    monkeypatch.setattr(custom, "_MODULES", {})
    (folder / "mine_alone.py").write_text(NETS)
    saved = Network(module="__main__:Mine", arguments={"width": 3})
    with pytest.raises(custom.UnknownNetwork, match="add --network MODULE:Mine"):
        custom.custom_network(saved)
    other = custom.import_again("mine_alone:Other", saved)
    assert (other.module, other.arguments) == ("mine_alone:Other", {"width": 8})
    with pytest.raises(custom.UnknownNetwork):
        custom.custom_network(saved)
    assert custom.import_again("mine_alone:Mine", saved) == saved
    module = custom.custom_network(saved).module
    assert (type(module).__module__, type(module).__name__, module.width) == ("mine_alone", "Mine", 3)
