"""Hypothesis strategies for TeamsClone documents in which much happens: complete plain ones, small and extreme."""

from typing import Any

from hypothesis import strategies as st

from jaxenv.envs.teamsclone.texts import DEFAULT_TEXTS
from reference.teamsclone_rules import KINDS, POSTED_KINDS, PRESENCES, TEAMMATES, TEAMS, WINDOW
from scenarios.teamsclone import Workspace

CHANNELS = 8
# Of the middling ones there are more, so that most workspaces are neither silent nor all noise.
POST_RATES = st.sampled_from([0.0, 0.1, 0.25, 0.25, 0.5, 0.5, 0.9, 1.0])
CALL_RATES = st.sampled_from([0.0, 0.0, 0.01, 0.1, 0.2, 0.5, 1.0])
WEIGHTS = st.sampled_from([0, 0, 1, 1, 2, 0.3, 0.045, 7.5, 1000])
WAITS = st.sampled_from([1, 2, 2, 3, 4, 6, 9, 12])
AVATARS = st.sampled_from(["🙂", "🦉", "👩‍🦳", "ab"])


def chance(draw, percent):
    """True that often."""
    return draw(st.integers(0, 99)) < percent


def names(draw, prefix, count):
    """Ids, not always in the order of the alphabet."""
    found = [f"{prefix}-{number}" for number in range(1, count + 1)]
    return draw(st.permutations(found)) if chance(draw, 30) else found


@st.composite
def weights(draw, count):
    """Weights of which one at least is not zero."""
    found = draw(st.lists(WEIGHTS, min_size=count, max_size=count))
    if not any(found):
        found[draw(st.integers(0, count - 1))] = 1
    return found


@st.composite
def teams(draw, ids):
    """The channels in teams, none of which is empty; the call rates sum to 1 at most."""
    bounds = draw(st.sets(st.integers(1, max(1, len(ids) - 1)), max_size=min(TEAMS, len(ids)) - 1))
    cuts, found, left = sorted({0, *bounds} - {len(ids)}), [], 1.0
    for number, start in enumerate(cuts):
        end = [*cuts, len(ids)][number + 1]
        channels = []
        for id in ids[start:end]:
            rate = min(draw(CALL_RATES), left)
            left -= rate
            channels.append({"id": id, "name": id.title(), "call_rate": rate})
        found.append({"id": f"team-{number + 1}", "name": f"Team {number + 1}", "channels": channels})
    return found


@st.composite
def mixes(draw):
    """What a teammate posts: often mentions, often nothing else."""
    if chance(draw, 20):
        return {kind: float(kind == "mention") for kind in POSTED_KINDS}
    mix = dict(zip(POSTED_KINDS, draw(weights(len(POSTED_KINDS))), strict=True))
    if chance(draw, 60):
        mix["mention"] = draw(st.sampled_from([0.5, 2, 10]))
    return mix


@st.composite
def users(draw, id, channels):
    """A teammate."""
    stays = chance(draw, 30)
    rows = {now: [float(now == other) for other in PRESENCES] if stays else draw(weights(4)) for now in PRESENCES}
    return {
        "id": id,
        "name": id.title(),
        "avatar": draw(AVATARS),
        "status": draw(st.sampled_from([*PRESENCES, "available", "busy"])),
        "post_rate": draw(POST_RATES),
        "channel_preference": dict(zip(channels, draw(weights(len(channels))), strict=True)),
        "kind_mix": draw(mixes()),
        "presence_transition": rows,
    }


@st.composite
def messages(draw, channels, people, num_agents):
    """Initial messages, among them mentions that pend and channels that are full."""
    found = []
    for channel in draw(st.permutations(channels)):
        for _ in range(draw(st.sampled_from([0, 0, 1, 2, 3, WINDOW]))):
            kind = draw(st.sampled_from([*KINDS, "mention", "mention", "mention"]))
            agent = draw(st.integers(0, num_agents - 1)) if kind == "mention" else None
            user, text = draw(st.sampled_from(people)), f"{kind} from before {draw(st.integers(0, 3))}"
            found.append({"channel": channel, "user": user, "kind": kind, "text": text, "agent": agent})
    return found


@st.composite
def texts(draw):
    """One to three texts of each kind, some of them usual ones, some said in several kinds."""
    return {
        kind: draw(
            st.lists(
                st.sampled_from([f"{kind} {number}" for number in range(3)] + ["hm", *DEFAULT_TEXTS[kind]]),
                min_size=1,
                max_size=3,
            )
        )
        for kind in KINDS
    }


@st.composite
def documents(draw, num_agents=1):
    """A document in its complete form, for so many agents."""
    channels = names(draw, "channel", draw(st.sampled_from([1, 2, 2, 3, 3, 4, 5, CHANNELS])))
    people = names(draw, "user", draw(st.sampled_from([1, 2, 2, 3, 4, TEAMMATES])))
    return {
        "environment": "teamsclone",
        "id": "drawn",
        "story": "",
        "teams": draw(teams(channels)),
        "users": [draw(users(id, channels)) for id in people],
        "messages": draw(messages(channels, people, num_agents)),
        "start_channel": draw(st.sampled_from(channels)),
        "mention_window": draw(WAITS),
        "call_length": draw(WAITS),
        "texts": draw(texts()),
        "start_time": draw(st.sampled_from([0, 1_698_765_432_000])),
    }


def complete(workspace: Workspace) -> dict[str, Any]:
    """The plain form in which nothing is left out: every field, weight, channel and text."""
    form = workspace.model_dump(mode="json")
    channels = [channel for team in form["teams"] for channel in team["channels"]]
    for item in (*form["teams"], *channels, *form["users"]):
        item["name"] = item["name"] or item["id"]
    for user, plain in zip(workspace.users, form["users"], strict=True):
        plain["channel_preference"] = workspace.preference(user)
    for message, plain in zip(workspace.messages, form["messages"], strict=True):
        plain["agent"] = message.named
    return form | {"start_channel": workspace.first_channel}
