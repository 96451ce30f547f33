"""The common part: pictures as files, episodes as sequences, and views of environments that others write."""

import base64
import dataclasses
import functools
import io
import pydoc
import re
import subprocess
import sys
import xml.etree.ElementTree

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import struct

import jaxenv
import scenarios
from jaxenv import baselines, rendering, wrappers
from jaxenv.rendering.views import describe_action

ENV, PARAMS = jaxenv.make("LifeOps-Shaped-v0")
LIBRARY = scenarios.load("lifeops")
RANDOM = jax.jit(baselines.random_policy)
DAY = LIBRARY.index("s1_basic_conflict")


def replay(*actions):
    remaining = iter(actions)
    return lambda key, observation, params: next(remaining)


def play(env=ENV, policy=RANDOM, **options):
    return rendering.record(env, PARAMS, policy, jax.random.key(1), DAY, **options)


@functools.cache
def recorded():
    return play(names=LIBRARY)


@pytest.fixture
def episode():
    return recorded()


@pytest.fixture
def without_matplotlib(monkeypatch):
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, name, None)


def test_an_episode_has_a_picture_of_the_morning_and_one_of_every_step(episode):
    assert len(episode) == len(episode.steps) + 1 == len(list(episode))
    assert [str(picture) for picture in episode[-2:]] == [str(episode[len(episode) - 2]), str(episode[-1])]
    assert [step.end for step in episode.steps[:-1]] == [""] * (len(episode) - 2)
    assert episode.steps[-1].end in ("terminated", "truncated")
    with pytest.raises(IndexError, match=rf"episode\[99\]: there are only the pictures 0 to {len(episode) - 1}"):
        episode[99]


def test_rewards_are_those_of_the_engine(episode):
    total, state, transition = 0.0, episode.states[0], jax.jit(ENV.transition)
    for step in episode.steps:
        state, reward, *_ = transition(jax.random.key(0), state, jnp.int32(step.action), PARAMS)
        total += float(reward)
        assert step.reward == pytest.approx(float(reward)) == pytest.approx(sum(step.parts.values()), abs=1e-5)
        assert step.total == pytest.approx(total, abs=1e-5)
    assert episode.total == step.total
    assert jax.tree.all(jax.tree.map(np.array_equal, state, episode.states[-1]))


class Dictionary(wrappers.Wrapper):
    """Reports the parts of the reward as a dictionary."""

    def transition(self, key, state, action, params):
        *results, info = super().transition(key, state, action, params)
        return *results, {**info, "reward_parts": vars(info["reward_parts"])}


def test_the_parts_of_the_reward_may_be_a_dictionary(episode):
    assert [step.parts for step in play(Dictionary(ENV)).steps] == [step.parts for step in episode.steps]


def test_a_policy_that_is_a_pytree_is_compiled_once():
    traced = []

    class First(struct.PyTreeNode):
        def __call__(self, key, observation, params):
            traced.append(observation)
            return jnp.argmax(observation.action_mask)

    assert len(play(policy=First()).steps) > len(traced) == 1


@pytest.mark.smoke
def test_a_picture_is_an_svg_and_a_png_and_the_same_bytes_each_time(episode):
    picture = episode[1]
    svg = xml.etree.ElementTree.fromstring(picture.svg())
    assert svg.tag.endswith("svg")
    assert svg.attrib["viewBox"] == "0 0 720 400"
    assert picture.svg() == episode[1].svg()
    assert picture.png().startswith(b"\x89PNG")

    import matplotlib.image

    pixels = matplotlib.image.imread(io.BytesIO(picture.png(dpi=72)))
    assert pixels.shape == (400, 720, 4)
    assert (pixels[..., :3] < 0.9).any()
    np.testing.assert_array_equal(picture.pixels(dpi=72), np.rint(255 * pixels[..., :3]).astype(np.uint8))


def test_a_figure_belongs_to_no_window_and_settings_stay_as_they_were(episode):
    import matplotlib
    import matplotlib.pyplot as plt

    before = dict(matplotlib.rcParams), plt.get_fignums()
    figure = episode[0].figure()
    assert figure.canvas.manager is None
    assert (dict(matplotlib.rcParams), plt.get_fignums()) == before


def test_files_are_written_by_their_suffix(episode, tmp_path):
    for name, start in (("a.svg", b"<?xml"), ("a.png", b"\x89PNG"), ("a.txt", str(episode[0]).encode())):
        episode[0].save(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
    with pytest.raises(ValueError, match=r"saved as \.svg, \.png, \.txt, got the suffix '\.pdf'"):
        episode[0].save(tmp_path / "a.pdf")


def test_an_overview_holds_the_beginning_the_end_and_every_step(episode):
    picture = episode.overview()
    assert picture.png(dpi=50).startswith(b"\x89PNG")
    assert all(step.description in picture.text for step in episode.steps)
    assert "step 0 of" in picture.text
    assert f"step {len(episode.steps)} of" in picture.text


def test_where_svg_and_frames_are_dropped_a_png_is_left_in_a_notebook(episode):
    import matplotlib.image

    overview = episode.overview()
    for shown, picture in ((episode[1], episode[1]), (overview, overview), (episode, overview)):
        document = xml.etree.ElementTree.fromstring(
            re.sub("<iframe.*</iframe>", "<svg/>", shown._repr_html_(), flags=re.S)
        )
        image, drawn = document
        assert (image.tag, drawn.tag.rpartition("}")[2]) == ("img", "svg")
        assert image.attrib["alt"] == repr(picture)
        head, _, png = image.attrib["src"].partition(",")
        assert head == "data:image/png;base64"
        left, whole = (
            matplotlib.image.imread(io.BytesIO(data)) for data in (base64.b64decode(png), picture.png(dpi=96))
        )
        assert left.shape[:2] == (533, 960)
        assert np.abs(left[..., :3] - whole[..., :3]).mean() < 0.005  # 256 colors stand for all


def test_nothing_in_a_scenario_becomes_markup_in_a_notebook(episode):
    evil = "</script><img src=x onerror=alert(1)>"
    names = LIBRARY.names(DAY)
    wicked = {field: (evil,) * len(names[field]) for field in ("events", "requests", "tasks", "people")}
    shown = dataclasses.replace(episode, names={**names, **wicked, "scenario": evil})
    for document in (shown._repr_html_(), shown[0]._repr_html_(), shown.overview()._repr_html_()):
        assert "img src" in document
        # In the data of the script, which is JSON; and there is the PNG.
        assert document.replace("<\\/script><img", "").count("<img") == 1
        assert "</script><img" not in document


def test_a_wrapped_environment_is_shown_like_the_bare_one(episode):
    env = wrappers.FlattenObservation(wrappers.EpisodeStatistics(ENV))
    wrapped = play(env, names=LIBRARY)
    assert [str(picture) for picture in wrapped] == [str(picture) for picture in episode]
    assert str(rendering.render(env, wrapped.states[0], PARAMS, names=LIBRARY)) == str(episode[0])


# Drawn by what draws TeamsClone-v0; several agents and weeks have tests of their own.
LIKE_ANOTHER = [id for id in jaxenv.registered() if id.startswith(("TeamsClone-M", "Week"))]


@pytest.mark.parametrize(
    "id", [pytest.param(id, marks=[pytest.mark.slow] if id in LIKE_ANOTHER else []) for id in jaxenv.registered()]
)
def test_every_registered_environment_is_shown(id):
    env, params = jaxenv.make(id)
    bare = rendering.record(env, params, RANDOM, jax.random.key(0), 0)
    assert len(bare) == len(bare.steps) + 1
    for step in bare.steps:
        assert step.description
        assert step.reward == pytest.approx(sum(step.parts.values()), abs=1e-5)
        assert step.description in bare.transcript()
        assert all(line in bare.transcript() for line in step.effects)
    for picture in (bare[0], bare[-1], bare.overview()):
        assert xml.etree.ElementTree.fromstring(picture.svg()).tag.endswith("svg")
        assert picture.svg() == picture.svg()
        assert len(picture._repr_html_().partition("<svg ")[2]) < len(picture.svg()) / 2
        assert len(picture._repr_html_()) < 150_000
    assert len(bare._repr_html_()) < 2_000_000


def test_a_transcript_describes_every_step_and_the_end(episode):
    transcript = episode.transcript()
    assert transcript.startswith(str(episode[0]))
    assert transcript.endswith(str(episode[-1]).partition("\n\n")[2])
    assert f"\n  1. {episode.steps[0].description}: " in transcript
    assert transcript.count("return ") == 1


def test_the_effects_of_a_step_are_shown_under_it(episode):
    step = episode.steps[0]
    lines = tuple(f"line {number}" for number in range(9))
    steps = (dataclasses.replace(step, effects=lines), *episode.steps[1:])
    picture = dataclasses.replace(episode, steps=steps)[1]
    assert all(f"\n  {line}\n" in str(picture) for line in lines)
    from matplotlib.text import Text

    drawn = [text.get_text() for text in picture.figure().findobj(Text) if text.get_text() in (*lines, "and 4 more")]
    assert drawn == [*lines[:4], "and 4 more", lines[-1]]


def test_names_come_from_a_library_a_document_or_a_mapping(episode):
    class Document:
        def names(self):
            return {"scenario": "one"}

    def heading(names):
        return str(rendering.render(ENV, episode.states[0], PARAMS, names=names)).partition(" · ")[0]

    assert heading(Document()) == heading({"scenario": "one"}) == "one"
    assert heading(LIBRARY) == LIBRARY.ids[DAY]
    with pytest.raises(ValueError, match=r"unknown field 'event'. Did you mean 'events'\? Fields: places, events, "):
        heading({"event": ()})


def test_a_scenario_can_be_named_where_the_names_are_those_of_a_library(episode):
    def record(scenario, **options):
        return rendering.record(ENV, PARAMS, RANDOM, jax.random.key(1), scenario, **options)

    assert record("s1_basic_conflict", names=LIBRARY).transcript() == episode.transcript()
    with pytest.raises(TypeError, match=r"give its number, library.index\('easy_1'\), or names=library to look it up"):
        record("easy_1")
    with pytest.raises(scenarios.ScenarioError, match="Did you mean 's1_basic_conflict'"):
        record("s1_basic", names=LIBRARY)


def test_help_shows_the_public_functions():
    page = pydoc.plain(pydoc.render_doc(rendering))
    for name in ("record(", "render(", "class Episode(", "class View(", "VIEWS = "):
        assert name in page, name


def test_a_batch_is_refused_with_the_way_out():
    many = wrappers.Vectorize(ENV, 3)
    _, states = many.reset(jax.random.key(0), PARAMS)
    with pytest.raises(ValueError, match=r"one state of LifeOps-Shaped-v0.*tree\.map\(lambda x: x\[0\], state\)"):
        rendering.render(ENV, states, PARAMS)


def test_another_environment_brings_its_own_view(monkeypatch, episode):
    class Mine(type(ENV)):
        pass

    def scenes(env, states, params, names):
        scene = rendering.Scene("mine", "now", "a text", main=lambda canvas: None, side=lambda canvas: None)
        return [scene for _ in states]

    mine = Mine(ENV.name, ENV.catalogue, ENV.weights, ENV.limits)
    state, steps = episode.states[0], episode.steps
    assert str(rendering.render(mine, state, PARAMS, names=LIBRARY)) == str(episode[0])  # its base class's, without one
    view = rendering.View(scenes, lambda env, state, action, params, names: f"do {action}")
    monkeypatch.setitem(rendering.VIEWS, Mine, view)
    own = rendering.Episode(mine, PARAMS, episode.states, steps)
    assert str(own[0]) == "mine · now\n\na text"
    assert str(own[1]).startswith(f"mine · now\n{steps[0].description}: ")
    assert own.overview().svg()
    assert describe_action(mine, state, jnp.int32(3), PARAMS) == "do 3"
    with pytest.raises(LookupError, match=r"does not know Vectorize, only LifeOps.*VIEWS\[Vectorize\]"):
        rendering.render(wrappers.Vectorize(ENV, 2), None, PARAMS)


@pytest.mark.usefixtures("without_matplotlib")
def test_without_matplotlib_the_text_is_left(episode, tmp_path):
    assert "Calendar" in str(episode[0])
    assert episode[0]._repr_html_().startswith("<pre>s1_basic_conflict")
    assert episode._repr_html_().startswith("<pre>s1_basic_conflict")
    for draw in (episode[0].png, lambda: episode.save(tmp_path / "a.html"), lambda: episode.save(tmp_path / "a.gif")):
        with pytest.raises(ImportError, match=r"in a checkout of jaxenv, pip install '.\[viz\]'"):
            draw()


def test_matplotlib_is_not_imported_before_something_is_drawn():
    # The names of a family are the first import: its package and `jaxenv.rendering` need each other.
    code = "import sys; from jaxenv.envs.lifeops.view import Names; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
