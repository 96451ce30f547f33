"""What actions mean, in words: those of one agent, and those of several in one phrase."""

from collections.abc import Sequence
from typing import NamedTuple

from jaxenv.envs.teamsclone import Scenario, State, actions, messages
from jaxenv.envs.teamsclone.actions import Catalogue
from jaxenv.envs.teamsclone.types import EMOJI, KINDS, WINDOW
from jaxenv.rendering.teamsclone.names import Names

REFUSED = {
    actions.EMPTY_MESSAGE: "send an empty message",
    actions.UNKNOWN_CHANNEL: "go to an unknown channel",
    actions.MALFORMED: "a malformed action",
}


class Moment(NamedTuple):
    """What actions are said of."""

    catalogue: Catalogue
    state: State
    scenario: Scenario
    names: Names
    viewer: int  # the agent who is told; of others it does not learn which words they react to


def phrase(moment: Moment, agent: int, action: int, is_legal: bool) -> str:
    """One agent's action."""
    if not 0 <= action < moment.catalogue.size:
        return f"action {action}, which does not exist"
    said = _said(moment, agent, action)
    return said if is_legal else f"{said}, not legal"


def together(names: Names, phrases: Sequence[str], first: int) -> str:
    """What all agents do, beginning with one; those that do the same are named together."""
    if len(phrases) == 1:
        return phrases[0]
    who: dict[str, list[str]] = {phrases[first]: []}
    for agent, said in enumerate(phrases):
        who.setdefault(said, []).append(names.agent(agent))
    return "; ".join(f"{', '.join(agents)}: {said}" for said, agents in who.items())


def _said(moment: Moment, agent: int, action: int) -> str:
    """An entry of the catalogue in a state."""
    names, scenario = moment.names, moment.scenario
    verb, channel, kind, slot, emoji = moment.catalogue.table[action].tolist()
    there = f"#{names.channels[channel]}" if channel < len(names.channels) else f"no channel {channel + 1}"
    if verb in (actions.TEXT, actions.ANSWER):
        template = int(scenario.texts[int(scenario.first_text[kind])])
        to = "" if verb == actions.TEXT else f" to {there}"
        return f"send {KINDS[kind]}{to} “{names.content(template, -1)}”"
    if verb == actions.SWITCH:
        return f"go to {there}"
    if verb == actions.REACT:
        return f"react {EMOJI[emoji]} to {_target(moment, agent, slot)}"
    if verb == actions.JOIN:
        return f"join the call in {there}"
    return REFUSED.get(verb, "idle")


def _target(moment: Moment, agent: int, slot: int) -> str:
    """The message of a slot of the agent's window."""
    here, rings, names = int(moment.state.channel[agent]), moment.state.messages, moment.names
    serial = int(rings.count[here]) - 1 - slot
    if serial < 0:
        return f"no message {slot + 1}"
    word = rings.words[serial % WINDOW, here]
    author = names.author(int(messages.author(word)))
    if agent != moment.viewer:
        return author
    return f"{author}: “{names.content(int(messages.text(word)), int(messages.named(word)))}”"
