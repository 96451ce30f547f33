"""Networks that the command line names as MODULE:NAME."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import pytest

from train.networks import custom
from train.settings.groups import Network

NETS = "import flax.linen as nn\n\n\nclass Mine(nn.Module):\n    width: int = 8\n\n\nclass Other(Mine):\n    pass\n"


class Half(nn.Module):
    """Logits and a value in bfloat16."""

    @nn.compact
    def __call__(self, features):
        outputs = nn.Dense(3, dtype=jnp.bfloat16)(features)
        return outputs[..., :2], outputs[..., 2]


def test_what_is_learned_from_is_float32_whatever_a_module_computes_in():
    network, features, mask = custom.CustomNetwork(Half()), jnp.ones(4), jnp.ones(2, bool)
    weights = network.init(jax.random.key(0), features, mask)
    distribution, critic, _ = network.apply(weights, features, mask)
    assert distribution.log_probs.dtype == critic.value.dtype == jnp.float32


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
