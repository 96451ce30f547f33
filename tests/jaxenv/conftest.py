"""The environments keep their dtypes: an implicit promotion is an error (optax needs them, so only here)."""

import jax
import pytest


@pytest.fixture(autouse=True)
def strict_dtypes():
    with jax.numpy_dtype_promotion("strict"):
        yield
