"""Which version wrote a file; the files of early versions do not say."""

from collections.abc import Mapping
from typing import Any

from jaxenv import __version__

VERSION = {"version": __version__}
"""A saved file's record of the program that wrote it."""


def in_words(record: Mapping[str, Any]) -> str:
    """Which version reads a file that this one does not.

    >>> in_words({"version": "0.1.0"})
    'jaxenv 0.1.0 wrote it, and reads it'
    >>> in_words({})
    'an early version of jaxenv wrote it, and reads it'
    """
    name = record.get("version")
    return f"{'jaxenv ' + name[:40] if isinstance(name, str) else 'an early version of jaxenv'} wrote it, and reads it"
