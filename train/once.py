"""Programs that run once, before training: initial weights, the first scenarios, the first state.

To compile one for speed takes longer than to run it: on one core the first state of Week (256 environments) compiles in
12.8 s with all of LLVM's optimization and runs in 0.1 s, in 4.7 and 0.4 s without.
"""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import jax
from jax.core import Tracer

T = TypeVar("T")
QUICK = {"xla_backend_optimization_level": 0}


def compiled_once(function: Callable[..., T], **options: Any) -> Callable[..., T]:
    """`jax.jit(function, **options)`, whose program is compiled on a CPU without LLVM's optimization.

    Part of a larger program, it is compiled as that is.

    >>> import jax.numpy as jnp
    >>> double = compiled_once(lambda x: 2 * x)
    >>> int(double(jnp.int32(3))), int(jax.jit(double)(jnp.int32(3)))
    (6, 6)
    """
    part, whole = jax.jit(function, **options), jax.jit(function, **options, compiler_options=QUICK)

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> T:
        is_part = any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves((arguments, named)))
        return (part if is_part or jax.default_backend() != "cpu" else whole)(*arguments, **named)

    return call
