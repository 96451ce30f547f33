"""The default texts of a workspace, and how any text becomes a row of numbers."""

import functools
import hashlib
import re
from collections.abc import Iterable, Mapping

import numpy as np

EMBEDDING_SIZE = 16  # D

DEFAULT_TEXTS: Mapping[str, tuple[str, ...]] = {
    "chatter": (
        "The coffee machine is fixed again.",
        "Long day, but we are getting there.",
        "I pushed the small fix we talked about.",
        "The train was late again this morning.",
        "That demo went better than I feared.",
        "I will be heads down until noon.",
    ),
    "question": (
        "Does anybody know where the meeting notes are?",
        "Who is coming to lunch?",
        "Has the build been slow for you too?",
        "Which room are we in at three?",
    ),
    "greeting": ("Hello everybody!", "Good morning, team.", "Hi all, hope you slept well."),
    "announcement": (
        "The office closes early on Friday.",
        "Release 2.4 is out, thanks to all of you.",
        "Please update your passwords by the end of the week.",
    ),
    "mention": (
        "Can you take a look at this when you have a moment?",
        "What do you think about the plan?",
        "Could you confirm the date?",
        "I need your answer before I can go on.",
    ),
    "invitation": ("I am starting a call, come and join.", "Quick call now, please drop in."),
    "reply": ("Sure, I am on it.", "Yes, that works for me.", "I have answered above."),
    "status": ("I am working on the open tasks.", "Status: all well, nothing blocks me."),
    "thanks": ("Thank you!", "Thanks a lot, that helps."),
}
"""Kind -> texts of it, in the order of `types.KINDS`; a message of an agent is the first one of its kind."""


def default_table() -> list[str]:
    """All default texts: the table that text codes index if a bank has no table."""
    return [text for texts in DEFAULT_TEXTS.values() for text in texts]


@functools.cache
def default_embedding() -> np.ndarray:
    """[texts, D] float32: `embed(default_table())`."""
    return embed(default_table())


def embed(texts: Iterable[str]) -> np.ndarray:
    """[texts, D] float32: hashed words, each adding 1 or -1 to one of D places, in rows of unit length.

    A frozen stand-in for sentence embeddings (feature hashing, Weinberger et al. 2009); zeros where there is no word.
    """
    rows = np.array([_hashed_words(text) for text in texts], np.float32).reshape(-1, EMBEDDING_SIZE)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.maximum(lengths, 1e-6)).astype(np.float32)


def _hashed_words(text: str) -> list[float]:
    row = [0.0] * EMBEDDING_SIZE
    for word in re.findall(r"\w+", text.lower()):
        digest = hashlib.sha256(word.encode()).digest()
        row[digest[0] % EMBEDDING_SIZE] += 1.0 if digest[1] % 2 else -1.0
    return row
