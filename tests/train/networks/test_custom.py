"""Networks that the command line names as MODULE:NAME."""

import pytest

from train.networks import custom
from train.settings.groups import Network

NETS = "import flax.linen as nn\n\n\nclass Mine(nn.Module):\n    width: int = 8\n\n\nclass Other(Mine):\n    pass\n"


def test_a_class_of_the_program_that_trained_is_that_of_its_name_in_a_module(current_folder, monkeypatch):
    monkeypatch.setattr(custom, "_MODULES", {})
    (current_folder / "mine_alone.py").write_text(NETS)
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
