"""What a workspace of TeamsClone makes use of, read from its arrays: of documents and of drawn ones alike."""

import numpy as np

from jaxenv.envs.teamsclone import messages
from jaxenv.envs.teamsclone.types import KINDS, ONE, PRESENCE
from strategies.scenario_features import counts, used_fields

BUSY, QUIET = 0.75, 0.5  # posts a step of all teammates together
RINGING, SILENT = 0.01, 0.0001  # calls a step of a channel
POSTED = KINDS[:5]
SHARE = ONE // 5  # of what a teammate posts


def features(found):
    """{feature: [N] bool} of N workspaces, as NumPy arrays."""
    return {
        **used_fields(found, skip=("texts", "first_text", "num_texts")),
        **_counts(found),
        **_of_users(found),
        **_of_channels(found),
        **_of_messages(found),
    }


def _exists(found):
    """([N, C], [N, U]) bool: channels and teammates."""
    channels, users = found.team.shape[1], found.post_rate.shape[1]
    return np.arange(channels) < found.num_channels[:, None], np.arange(users) < found.num_users[:, None]


def _weights(edges):
    """[..., n] int: of running sums."""
    return np.diff(edges.astype(int), axis=-1, prepend=0)


def _counts(found):
    window, length = found.mention_window.astype(int), found.call_length.astype(int)
    return {
        **counts("channels", found.num_channels),
        **counts("teammates", found.num_users),
        **counts("teams", found.team.max(1) + 1),
        **{f"mentions wait {low} to {low + 2} steps": (window >= low) & (window < low + 3) for low in range(1, 40, 3)},
        **{f"calls last {low} to {low + 2} steps": (length >= low) & (length < low + 3) for low in range(1, 40, 3)},
        "agents begin in the first channel": found.start == 0,
        "agents begin elsewhere": found.start > 0,
    }


def _of_users(found):
    """Teammates: how much, where and what they post, and how they come and go."""
    works = _exists(found)[1]
    rate, kinds = found.post_rate / ONE, _weights(found.kind_edges)
    mention = kinds[..., POSTED.index("mention")] / ONE
    total = np.where(works, rate, 0).sum(1)
    asked = np.where(works, rate * mention, 0).sum(1)
    channels = (_weights(found.channel_edges) > 0).sum(2)
    most = _weights(found.channel_edges).max(2) / ONE
    presence = _weights(found.presence_edges)
    stays = np.diagonal(presence, axis1=2, axis2=3) / ONE
    first = found.presence
    result = {
        "much is posted": total > BUSY,
        "little is posted": total < QUIET,
        "a teammate who posts little": (works & (rate < 0.07)).any(1),
        "a teammate who posts often": (works & (rate > 0.25)).any(1),
        "a mention in 50 steps": (asked < 0.02) & (asked > 0),
        "a mention in 20 to 50 steps": (asked >= 0.02) & (asked < 0.05),
        "more mentions": (asked >= 0.05) & (asked < 0.1),
        "a mention in ten steps": asked >= 0.1,
        "a teammate who never mentions anybody": (works & (mention == 0)).any(1),
        "a teammate who mentions all the time": (works & (mention >= 0.3)).any(1),
        "a teammate of all channels": (works & (channels == found.num_channels[:, None])).any(1),
        "a teammate of one channel": (works & (channels == 1)).any(1),
        "a teammate of some channels": (works & (channels > 1) & (channels < found.num_channels[:, None])).any(1),
        "a teammate who is mostly in one channel": (works & (most > 0.6)).any(1),
        "a teammate who never comes back": (works & (presence[:, :, 1:, 0] == 0).any(2)).any(1),
        "all teammates post as often": (np.ptp(np.where(works, rate, rate[:, :1]), 1) == 0),
    }
    for n, kind in enumerate(POSTED):
        result[f"a teammate who never posts a {kind}"] = (works & (kinds[..., n] == 0)).any(1)
        result[f"a teammate who mostly posts a {kind}"] = (works & (kinds[..., n] > ONE * 0.45)).any(1)
        result[f"a teammate who often posts a {kind}"] = (works & (kinds[..., n] > SHARE)).any(1)
    for n, state in enumerate(PRESENCE):
        result[f"a teammate who is {state} at first"] = (works & (first == n)).any(1)
        result[f"a teammate who stays {state}"] = (works & (stays[..., n] > 0.965)).any(1)
        result[f"a teammate who is soon no more {state}"] = (works & (stays[..., n] < 0.85)).any(1)
        result[f"a teammate who never becomes {state}"] = (works & _never(presence, n) & (first != n)).any(1)
    return result


def _never(presence, state):
    """[N, U] bool: no other state leads to it."""
    others = [n for n in range(len(PRESENCE)) if n != state]
    return (presence[:, :, others, state] == 0).all(2)


def _of_channels(found):
    exists, works = _exists(found)
    rate = found.call_rate / ONE
    posts = (_weights(found.channel_edges) * (found.post_rate * works)[..., None]).sum(1)
    return {
        "a channel without calls": (exists & (rate < SILENT)).any(1),
        "no calls at all": (rate < SILENT).all(1),
        "a channel with some calls": (exists & (rate >= SILENT) & (rate < RINGING)).any(1),
        "a channel with many calls": (exists & (rate >= RINGING)).any(1),
        "a call in ten steps": rate.sum(1) > 0.1,
        "a channel where nobody posts": (exists & (posts == 0)).any(1),
        "a channel with most of the posts": (exists & (posts > 0.5 * posts.sum(1, keepdims=True))).any(1),
        "teams of different sizes": np.array(
            [np.ptp(np.bincount(t[:n])) > 0 for t, n in zip(found.team, found.num_channels, strict=True)]
        ),
    }


def _of_messages(found):
    present = np.asarray(messages.is_message(found.messages))
    kind = np.asarray(messages.kind(found.messages))
    exists, number = _exists(found)[0], present.sum(1)
    return {
        **{f"a {name} at first": (present & (kind == n)).any((1, 2)) for n, name in enumerate(KINDS)},
        "a mention that waits at first": np.asarray(messages.is_pending(found.messages)).any((1, 2)),
        "an empty channel at first": (exists & (number == 0)).any(1),
        **{f"{n} messages in a channel at first": (exists & (number == n)).any(1) for n in range(1, 11)},
        "no messages at first": ~present.any((1, 2)),
    }
