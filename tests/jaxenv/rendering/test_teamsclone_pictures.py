"""The page of a chat and the timeline of an episode: what is drawn, in which colors, and that it can be read."""

import warnings

import jax
import numpy as np
import pytest

import jaxenv
import scenarios
from jaxenv import baselines, rendering
from jaxenv.envs.teamsclone.types import WINDOW
from jaxenv.envs.teamsclone.view import panels, timeline
from jaxenv.rendering import theme
from strategies.ink import fills_around, overlapping, text, texts, written
from strategies.teamsclone_chats import BACK, DESK, IDLE, discs, go, play, react, visit

LIBRARY = scenarios.load("teamsclone")


def test_the_page_shows_channels_messages_and_people():
    drawn = written(visit()[2])
    assert [words for words in drawn if words in ("Front desk", "phones", "Hall", "back", "Phone", "call")] == [
        *("Front desk", "Hall", "back", "phones", "Phone", "call"),
        "Front desk",  # beside the name of the current channel
    ]
    assert {"# Hall", "Good night.", "@agent", "Is the door open?", "On my way.", ":+1:"} <= set(drawn)
    assert {"Agent (you)", "offline", "messages sent", "100 %", "return 0.85"} <= set(drawn)
    assert drawn.count("Ada") == 2  # who writes, and who is there


def test_what_is_unread_stands_in_a_badge():
    picture = visit()[1]
    badges = [disc for disc in discs(picture) if disc[3] == f"{theme.ALARM}ff" and disc[2] > 5]
    assert len(badges) == 2
    assert [words.get_text() for words in texts(picture) if words.get_color() == theme.PAPER][:2] == ["2", "1"]
    assert text(picture, "back").get_weight() == "bold"
    assert text(visit()[5], "Hall").get_weight() == "normal"


def test_the_current_channel_is_highlighted():
    first, last = visit()[0], visit()[5]
    assert fills_around(text(first, "Hall"))[0] == theme.tint(theme.BLUE, 0.16)
    assert fills_around(text(last, "Hall"))[0] == theme.WASH
    assert fills_around(text(last, "back"))[0] == theme.tint(theme.BLUE, 0.16)


@pytest.mark.parametrize(
    ("step", "outcome", "color", "ground"),
    [
        (0, "pending", theme.ORANGE, theme.tint(theme.ORANGE, 0.14)),
        (2, "answered", theme.GREEN, theme.tint(theme.GREEN, 0.14)),
        (5, "missed", theme.PAPER, theme.WASH),
    ],
)
def test_a_mention_is_coloured_by_how_it_stands(step, outcome, color, ground):
    (tag,) = [found for found in texts(visit()[step]) if (found.get_text(), found.get_weight()) == (outcome, "bold")]
    assert fills_around(tag)[:2] == [color, ground]
    mention = text(visit()[step], "@agent")
    assert mention.get_color() == (theme.MUTED if outcome == "missed" else theme.BLUE)


def test_presence_is_a_dot():
    rims = [disc for disc in discs(visit()[0]) if disc[2] == pytest.approx(3.6)]
    colors = [disc[3][:7] for disc in discs(visit()[0]) if disc[2] == pytest.approx(2.7)]
    assert len(rims) == 4  # Ada, Ben, the agent, and the agent at the foot of the list
    assert colors == [panels.PRESENT["available"]] * 3  # offline is hollow


def test_the_newest_messages_are_shown_and_others_counted():
    long = "A long story about a ladder that nobody has seen since the summer before last. " * 4
    more = [{"channel": "back", "user": "ada", "text": f"{number} {long}"} for number in range(8)]
    document = DESK | {"messages": [*DESK["messages"], *more]}
    drawn = written(play(go(BACK), document=document)[1])
    assert any(words.startswith("7 A long") for words in drawn)
    assert "Where is the ladder?" not in drawn
    assert "1 earlier message" in drawn


def test_the_overview_shows_the_whole_workspace_and_says_so():
    episode = visit()
    picture = episode.overview()
    drawn = written(picture)
    assert {"The whole workspace", "also what no agent has seen", "#Hall", "#back", "#Phone", "Teammates"} <= set(drawn)
    rings = [disc for disc in discs(picture) if disc[2] == timeline.RING and disc[3] == "#ffffffff"]
    assert len(rings) == 2 + 3  # two mentions, and three in the legend
    own = [disc for disc in discs(picture) if disc[2] == timeline.DOT + 0.7]
    assert len(own) == 2 + 1
    assert all(step.description in picture.text for step in episode.steps)


def test_an_overview_shows_calls_and_the_path_of_the_agent():
    from matplotlib.colors import to_hex
    from matplotlib.lines import Line2D
    from matplotlib.patches import FancyBboxPatch

    figure = visit().overview().figure()
    calls = [box for box in figure.findobj(FancyBboxPatch) if to_hex(box.get_facecolor()) == timeline.CALL]
    assert len(calls) == 2 + 1  # the third is in the legend
    ways = [line for line in figure.findobj(Line2D) if len(line.get_xdata()) == 2 * len(visit())]
    assert len(ways) == 1
    assert len(set(ways[0].get_ydata())) == 2  # the hall, and the back
    returns = [line for line in figure.findobj(Line2D) if len(line.get_xdata()) == len(visit())]
    assert len(returns) == 1


def shown(change):
    """The SVG and the text of the first state, and of the state after a change of its arrays."""
    episode, library = visit(), scenarios.parse("teamsclone", DESK)
    state = episode.states[1]
    pictures = [rendering.render(episode.env, one, episode.params, names=library) for one in (state, change(state))]
    return [(picture.svg(), str(picture)) for picture in pictures]


@pytest.mark.parametrize("hidden", ["words", "reactions", "posted"])
def test_messages_of_other_channels_are_not_shown(hidden):
    def change(state):
        rings = state.messages
        array = np.array(getattr(rings, hidden))
        of_channel = array.reshape(WINDOW, -1)
        of_channel[:, BACK] = of_channel[::-1, 0]
        return state.replace(messages=rings.replace(**{hidden: array}))

    one, other = shown(change)
    assert one == other
    assert "ladder" not in one[1]


def test_what_has_been_seen_of_the_current_channel_is_shown():
    def change(state):
        return state.replace(messages=state.messages.replace(reactions=state.messages.reactions * 0))

    one, other = shown(change)
    assert one != other


def test_rates_and_schedules_are_not_shown():
    env, params = jaxenv.make("TeamsClone-Mentions-v0")
    _, state = env.reset(jax.random.key(0), params, 0)
    other = state.replace(schedule=state.schedule.replace(step=state.schedule.step + 3))
    bank = params.bank.replace(scenarios=params.bank.scenarios.replace(post_rate=params.bank.scenarios.post_rate // 2))
    pictures = [
        rendering.render(env, *pair).svg()
        for pair in ((state, params), (other, params), (state, params.replace(bank=bank)))
    ]
    assert len(set(pictures)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("id", [id for id in jaxenv.registered() if id.startswith("TeamsClone")])
def test_every_variant_can_be_read(id):
    env, params = jaxenv.make(id)
    params = params.replace(bank=LIBRARY.bank, max_steps_in_episode=np.int32(40))
    index = list(jaxenv.registered()).index(id) % len(LIBRARY)
    policy = baselines.for_environment(env)["Random"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        episode = rendering.record(env, params, policy, jax.random.key(2), index, names=LIBRARY)
        for picture in (episode[0], episode[len(episode) // 2], episode[-1], episode.overview()):
            assert overlapping(picture) == []
            assert picture.png(dpi=40).startswith(b"\x89PNG")
            assert "<svg " in picture._repr_html_()


def test_all_emoji_are_drawn_without_a_missing_glyph():
    reactions = [react(slot, emoji) for slot, emoji in ((0, 1), (1, 5))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        episode = play(*reactions, IDLE, document=DESK | {"id": "desk 🐘 机"})
        assert {":heart:", ":tada:"} <= set(written(episode[2]))
        assert "❤️" in str(episode[2])
        assert episode[2].svg()
