"""Workspaces to arrays and back: TeamsClone documents as `jaxenv` scenarios, and a bank with one table of texts."""

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxenv.core import ScenarioBank
from jaxenv.core.fields import padding
from jaxenv.envs.teamsclone import messages
from jaxenv.envs.teamsclone.texts import default_table, embed
from jaxenv.envs.teamsclone.types import KINDS, MAX_TEXTS, ONE, POSTED_KINDS, PRESENCE, Limits, Scenario
from scenarios.document_format import put, refuse
from scenarios.teamsclone import checks
from scenarios.teamsclone.document import Workspace
from scenarios.text.errors import ScenarioError
from scenarios.words import USUAL, drawn

NUMBERED = re.compile(r"text ([1-9]\d{0,5})")
MAX_DIGITS = 6  # after the point, of a decompiled number


def compile(workspace: Workspace, limits: Limits = Limits()) -> Scenario:
    """The arrays of a workspace, as NumPy arrays; its texts are numbered as in `texts([workspace])`.

    Raises:
        ScenarioError: if the workspace does not fit into the limits, or if `checks.problems` finds something else.
    """
    return _compile(workspace, limits, codes_of([workspace]))


def bank(workspaces: Sequence[Workspace], limits: Limits = Limits()) -> ScenarioBank:
    """Several workspaces as a bank; their texts are numbered as in `texts(workspaces)`, whose embedding they share.

    Raises:
        ScenarioError: as `compile`, and where there are more texts than a bank has room for.
    """
    codes = codes_of(workspaces)
    if len(codes) > MAX_TEXTS:
        raise ScenarioError(f"the workspaces have {len(codes)} different texts, and a bank has room for {MAX_TEXTS}.")
    stacked = ScenarioBank.stack([_compile(workspace, limits, codes) for workspace in workspaces])
    return stacked.replace(shared=jnp.asarray(embed(codes)))


def teams_of(scenarios: Scenario) -> dict[str, int]:
    """The capacity of teams: the default or as many as scenarios have."""
    return {"teams": max(Limits().teams, int(np.max(scenarios.team)) + 1)}


def _compile(workspace: Workspace, limits: Limits, codes: Mapping[str, int]) -> Scenario:
    """The arrays of a workspace whose texts have codes."""
    refuse(checks.problems(workspace, limits))
    empty, users, ids = padding(Scenario, limits.sizes), workspace.users, workspace.channel_ids
    number = [len(workspace.texts[kind]) for kind in KINDS]
    return put(
        empty,
        num_channels=len(ids),
        num_users=len(users),
        team=workspace.team_of,
        start=ids.index(workspace.first_channel),
        presence=[PRESENCE.index(user.status) for user in users],
        messages=_message_words(empty.messages, workspace, codes),
        post_rate=[to_fixed(user.post_rate) for user in users],
        channel_edges=[cdf(workspace.preference(user).values()) for user in users],
        kind_edges=[cdf(user.kind_mix[kind] for kind in POSTED_KINDS) for user in users],
        presence_edges=[[cdf(user.presence_transition[now]) for now in PRESENCE] for user in users],
        call_rate=[to_fixed(channel.call_rate) for channel in workspace.channels],
        call_length=workspace.call_length,
        mention_window=workspace.mention_window,
        texts=[codes[text] for kind in KINDS for text in workspace.texts[kind]],
        first_text=[0, *itertools.accumulate(number[:-1])],
        num_texts=number,
    )


def _message_words(padding: Any, workspace: Workspace, codes: Mapping[str, int]) -> np.ndarray:
    """The rings of initial messages, a column for each channel."""
    table, used = np.array(padding), [0] * len(workspace.channel_ids)
    users = [user.id for user in workspace.users]
    for message in workspace.messages:
        channel = workspace.channel_ids.index(message.channel)
        named = -1 if message.named is None else message.named
        parts = (codes[message.text], users.index(message.user), KINDS.index(message.kind), named)
        table[used[channel], channel] = messages.pack(*map(jnp.int32, parts))
        used[channel] += 1
    return table


def decompile(scenario: Scenario, scenario_id: str = "", wording: str = USUAL) -> Workspace:
    """A workspace in words from arrays of one scenario, such as a generated one.

    Names are not in the arrays: ids are team-1, team-2, …, channel-1, … and user-1, …, names come from `words.json`;
    a text that is not a default one is called by its code, `text 57`. Compiled again, it gives the same arrays.

    Raises:
        ScenarioError: where no document compiles to the arrays.
    """
    channels = [f"channel-{n}" for n in range(1, int(scenario.num_channels) + 1)]
    users = [f"user-{n}" for n in range(1, int(scenario.num_users) + 1)]
    seed = int(np.asarray(scenario.post_rate, np.int64).sum()) + int(scenario.start)
    words = {kind: drawn("teamsclone", kind, seed, wording) for kind in ("teams", "channels", "users")}
    return Workspace.model_validate(
        {
            "id": scenario_id,
            "teams": _teams(scenario, channels, words),
            "users": [_user(scenario, n, id, channels, next(words["users"])) for n, id in enumerate(users)],
            "messages": _messages(scenario, channels, users),
            "start_channel": channels[int(scenario.start)],
            "mention_window": int(scenario.mention_window),
            "call_length": int(scenario.call_length),
            "texts": {kind: _texts(scenario, n) for n, kind in enumerate(KINDS)},
        }
    )


def _teams(scenario: Scenario, channels: list[str], words: Mapping[str, Iterator[str]]) -> list[dict[str, Any]]:
    """The teams and their channels."""
    owners = np.asarray(scenario.team)[: len(channels)].tolist()
    rates = [probability(int(rate)) for rate in scenario.call_rate]
    teams = []
    for owner, rows in itertools.groupby(range(len(channels)), key=owners.__getitem__):
        own = [{"id": channels[n], "name": next(words["channels"]), "call_rate": rates[n]} for n in rows]
        teams.append({"id": f"team-{owner + 1}", "name": next(words["teams"]), "channels": own})
    if owners != sorted(owners) or len(teams) != max(owners) + 1:
        raise ScenarioError(f"no document has channels of the teams {owners}: expected 0, 1, … without a gap.")
    return teams


def _user(scenario: Scenario, n: int, id: str, channels: list[str], name: str) -> dict[str, Any]:
    """A teammate."""
    preference = weights(np.asarray(scenario.channel_edges[n])[: len(channels)].tolist())
    rows = np.asarray(scenario.presence_edges[n]).tolist()
    return {
        "id": id,
        "name": name,
        "status": PRESENCE[int(scenario.presence[n])],
        "post_rate": probability(int(scenario.post_rate[n])),
        "channel_preference": dict(zip(channels, preference, strict=True)),
        "kind_mix": dict(zip(POSTED_KINDS, weights(np.asarray(scenario.kind_edges[n]).tolist()), strict=True)),
        "presence_transition": {now: weights(row) for now, row in zip(PRESENCE, rows, strict=True)},
    }


def _messages(scenario: Scenario, channels: list[str], users: list[str]) -> list[dict[str, Any]]:
    """The initial messages, channel by channel."""
    found = []
    for channel, ring in zip(channels, np.asarray(scenario.messages).T, strict=False):
        for word in ring[ring != 0]:
            kind, named = KINDS[int(messages.kind(word))], int(messages.named(word))
            fields = {"channel": channel, "user": users[int(messages.author(word))], "kind": kind}
            agent = {} if named < 0 else {"agent": named}
            found.append({**fields, "text": text_of(int(messages.text(word))), **agent})
    return found


def _texts(scenario: Scenario, kind: int) -> list[str]:
    """The texts of a kind."""
    first, number = int(scenario.first_text[kind]), int(scenario.num_texts[kind])
    return [text_of(code) for code in np.asarray(scenario.texts)[first : first + number].tolist()]


def texts(workspaces: Iterable[Workspace]) -> list[str]:
    """The rows of the table: the default texts, then each workspace's own in the order of their first use.

    A text that names its code, as `text_of` writes one, keeps its row; a row that is left over names its code too.

    >>> import scenarios
    >>> rows = texts(scenarios.load("teamsclone").documents)
    >>> rows[0], len(rows)
    ('The coffee machine is fixed again.', 315)
    """
    default = default_table()
    used = dict.fromkeys(text for workspace in workspaces for text in workspace.all_texts())
    own = [text for text in used if text not in default]
    placed = {code: text for text in own if (code := _code_of(text, len(default))) is not None}
    others = iter([text for text in own if text not in placed.values()])
    length = max(len(default) + len(own), *(code + 1 for code in placed), 0)
    return default + [placed.get(code) or next(others, text_of(code)) for code in range(len(default), length)]


def codes_of(workspaces: Iterable[Workspace]) -> dict[str, int]:
    """Text -> code, in the order of the codes."""
    return {text: code for code, text in enumerate(texts(workspaces))}


def text_of(code: int) -> str:
    """The default text of a code; its number where only a bank's own table has it."""
    default = default_table()
    return default[code] if code < len(default) else f"text {code}"


def _code_of(text: str, first: int) -> int | None:
    """The code, `first` or above, that a text names."""
    found = NUMBERED.fullmatch(text)
    code = int(found[1]) if found else -1
    return code if first <= code < MAX_TEXTS else None


def to_fixed(probability: float) -> int:
    """A probability in units of 2⁻¹⁶."""
    return math.floor(probability * ONE + 0.5)


def cdf(weights: Iterable[float]) -> list[int]:
    """The cumulative distribution of weights in units of 2⁻¹⁶; zeros where all weights are zero."""
    sums = list(itertools.accumulate(weights))
    total = sums[-1] or 1.0
    return [math.floor(each / total * ONE + 0.5) for each in sums]


def probability(amount: int) -> float:
    """The probability with the fewest digits that has a fixed-point value."""
    return next((candidate for candidate in _rounded(amount / ONE) if to_fixed(candidate) == amount), amount / ONE)


def weights(row: Sequence[int]) -> list[float]:
    """The weights with the fewest digits that have a cumulative distribution; they sum to about 1."""
    exact = [(high - low) / ONE for low, high in itertools.pairwise([0, *row])]
    ways = zip(*map(_rounded, exact), strict=True)
    return next((list(candidate) for candidate in ways if cdf(candidate) == list(row)), exact)


def _rounded(number: float) -> Iterable[float]:
    """A number with more and more digits."""
    return (round(number, digits) for digits in range(MAX_DIGITS + 1))
