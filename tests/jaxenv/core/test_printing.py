"""What a cell of a notebook shows of a record."""

import jax
import pytest

import jaxenv
from strategies.ids import IDS


@pytest.mark.parametrize("env_id", IDS)
def test_records_print_in_a_few_lines_traced_or_not(env_id):
    env, params = jaxenv.make(env_id)

    def printed(params):
        observation, state = env.reset(jax.random.key(0), params)
        texts.extend(map(repr, (params, params.bank, params.bank[0], observation, state)))

    texts: list[str] = []
    jax.eval_shape(printed, params)
    texts += map(repr, (params, params.bank, params.bank[0]))
    assert max(map(len, texts)) < 1500
    assert all(text.startswith(("Params(", "ScenarioBank(", "Scenario(", "Observation(", "State(")) for text in texts)
    assert repr(jax.tree.map(lambda _: 0, params)).startswith("Params(bank=ScenarioBank(Scenario(")
    assert f"ScenarioBank({params.bank.size} scenarios, " in repr(params)
