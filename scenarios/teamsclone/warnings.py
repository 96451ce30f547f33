"""Warnings about a workspace: allowed but rarely intended contents."""

import math
from collections.abc import Iterator

import numpy as np

from jaxenv.envs.teamsclone.types import BUSY, KINDS, PRESENCE
from scenarios.teamsclone.checks import SLACK
from scenarios.teamsclone.document import User, Workspace
from scenarios.text.errors import Problem, named


def warnings(workspace: Workspace) -> list[Problem]:
    """Remarks on allowed but rarely intended contents."""
    return [
        *_silent_teammates(workspace),
        *_silent_channels(workspace),
        *_no_mentions(workspace),
        *_crowded_steps(workspace),
        *_short_window(workspace),
        *_absent_agents(workspace),
        *_calls_of_nobody(workspace),
        *_repeated_texts(workspace),
    ]


def can_be_present(user: User) -> bool:
    """Whether a teammate is ever available or busy after the first step."""
    chain = np.array([user.presence_transition[now] for now in PRESENCE]) > 0
    reached = np.arange(len(PRESENCE)) == PRESENCE.index(user.status)
    met = np.zeros_like(reached)
    for _ in PRESENCE:
        reached = (reached[:, None] & chain).any(axis=0)
        met |= reached
    return bool(met[: BUSY + 1].any())


def posts(user: User) -> bool:
    """Whether a teammate ever posts on their own."""
    return user.post_rate > 0 and can_be_present(user)


def _silent_teammates(workspace: Workspace) -> Iterator[Problem]:
    """Teammates who never post."""
    for n, user in enumerate(workspace.users):
        if not can_be_present(user):
            text = f"{named(user.id)} is {user.status} and never becomes available or busy, so never posts."
            yield Problem(("users", n, "presence_transition"), text)
        elif user.post_rate == 0:
            yield Problem(("users", n, "post_rate"), f"{named(user.id)} never posts: post_rate is 0.")


def _silent_channels(workspace: Workspace) -> Iterator[Problem]:
    """Channels without posts and without calls."""
    for n, team in enumerate(workspace.teams):
        for m, channel in enumerate(team.channels):
            is_used = any(posts(user) and workspace.preference(user)[channel.id] for user in workspace.users)
            if not is_used and not channel.call_rate:
                text = f"nobody ever posts in {named(channel.id)}: no teammate prefers it, and its call_rate is 0."
                yield Problem(("teams", n, "channels", m), text)


def _no_mentions(workspace: Workspace) -> Iterator[Problem]:
    """Workspaces without any mention of an agent."""
    is_asked = any(user.kind_mix.mention > 0 and posts(user) for user in workspace.users)
    if not is_asked and not any(message.kind == "mention" for message in workspace.messages):
        text = "nobody ever mentions an agent: give a kind_mix some weight of mention."
        yield Problem(("users",), text)


def _crowded_steps(workspace: Workspace) -> Iterator[Problem]:
    """Rates that are more than the one post a step that there is."""
    total = math.fsum(user.post_rate for user in workspace.users)
    if total > 1 + SLACK:
        text = (
            f"the post_rates sum to {total:g}: while all are present, one of them posts in every step, each less often"
        )
        yield Problem(("users",), f"{text} than its own rate.")


def _short_window(workspace: Workspace) -> Iterator[Problem]:
    """Mentions that only an agent in the right channel can answer."""
    if workspace.mention_window == 1:
        text = "mention_window is 1: a mention is missed unless it is answered as soon as it is first seen."
        yield Problem(("mention_window",), text)


def _absent_agents(workspace: Workspace) -> Iterator[Problem]:
    """Mentions of agents that most environments do not have."""
    for n, message in enumerate(workspace.messages):
        if message.named:
            text = f"agent {message.named} is there only with num_agents={message.named + 1} or more."
            yield Problem(("messages", n, "agent"), text)


def _calls_of_nobody(workspace: Workspace) -> Iterator[Problem]:
    """Calls without anybody to start them."""
    if any(map(can_be_present, workspace.users)):
        return
    for n, team in enumerate(workspace.teams):
        for m, channel in enumerate(team.channels):
            if channel.call_rate:
                text = f"no call ever starts in {named(channel.id)}: no teammate is ever available or busy."
                yield Problem(("teams", n, "channels", m, "call_rate"), text)


def _repeated_texts(workspace: Workspace) -> Iterator[Problem]:
    """Texts that are repeated in a kind, and so are picked twice as often."""
    for kind in KINDS:
        texts = workspace.texts[kind]
        for n, text in enumerate(texts):
            if text in texts[:n]:
                yield Problem(("texts", kind, n), f"the text is repeated, first as item {texts.index(text) + 1}.")
