"""Strictness for every test: a broadcast between ranks is an error, so a missing axis cannot pass unseen."""

import hypothesis
import jax

jax.config.update("jax_numpy_rank_promotion", "raise")
hypothesis.settings.register_profile("jaxenv", deadline=None, print_blob=True)
hypothesis.settings.load_profile("jaxenv")
