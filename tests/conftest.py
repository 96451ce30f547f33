"""Strictness for every test, and a garbage collector that knows what tracing does."""

import gc

import hypothesis
import jax

jax.config.update("jax_numpy_rank_promotion", "raise")  # so that a missing axis cannot pass unseen
jax.config.update("jax_enable_compilation_cache", False)  # which commands keep in the user's folders
hypothesis.settings.register_profile("jaxenv", deadline=None, print_blob=True)
hypothesis.settings.load_profile("jaxenv")

# Tracing makes many objects that stay; looking through them all again and again takes a sixth of the tests' time.
gc.set_threshold(50_000, 50, 50)


def pytest_collection_finish():
    """What is imported by now stays, so the collector need not look at it."""
    gc.collect()
    gc.freeze()
