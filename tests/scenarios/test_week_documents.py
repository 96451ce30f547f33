"""Week documents: what they compile to, what is read back, what is refused, and how a running week reads in them."""

import copy
import functools
import json
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scenarios
from jaxenv.core import ScenarioBank
from jaxenv.envs.week import Limits, Week
from jaxenv.envs.week.types import CHAT, KINDS, NEVER, NONE
from scenarios import ScenarioError, solvers
from scenarios.codec import Codec
from scenarios.libraries import Library
from scenarios.solvers.week import plan
from scenarios.week import FORMAT, compile, decompile
from scenarios.week.checks import problems, warnings

COUNT = 8
SMALL = {
    "id": "small",
    "places": [{"id": "home", "ways": {"office": 30}}, {"id": "office", "name": "The office"}],
    "channels": [{"id": "team"}, {"id": "family", "name": "Family"}],
    "meetings": [
        {"id": "dentist", "at": "Mon 10:00", "minutes": 45, "place": "office", "points": 20},
        {"id": "call", "at": "Tue 17:15", "minutes": 45, "points": 10, "promised": False},
    ],
    "projects": [
        {
            "id": "visa",
            "scouts": [{"id": "ring", "minutes": 15, "tells": "form", "points": 5}],
            "steps": [
                {
                    "id": "form",
                    "asks": "Which form?",
                    "answers": ["blue", "green"],
                    "first": "green",
                    "changes": "Wed 9:30",
                    "then": "blue",
                    "ways": [
                        {"id": "fill_blue", "minutes": 60, "answer": "blue", "points": 15, "hours": ["9:00", "12:00"]},
                        {"id": "fill_green", "minutes": 30, "answer": "green", "points": 15, "place": "office"},
                    ],
                },
                {"id": "hand_in", "after": "form", "ways": [{"id": "post_it", "minutes": 15, "points": 20}]},
            ],
        }
    ],
    "errands": [{"id": "milk", "minutes": 30, "due": "Thu 18:00", "points": 10, "known": False}],
    "facts": [{"id": "key", "asks": "Who has the key?", "answers": ["Ada", "Ben", "nobody"], "first": "Ben"}],
    "posts": [
        {"channel": "family", "at": "Mon 9:00", "by": "Ada", "says": "Ben has the key.", "news": "key"},
        {"channel": "team", "at": "Mon 9:15", "says": "Good morning."},
        {"channel": "team", "at": "Mon 8:15", "request": "call"},
        {"channel": "family", "at": "Tue 8:00", "job": "milk"},
        {"channel": "team", "at": "Wed 9:30", "news": "form", "by": "Mira"},
        {"channel": "family", "at": "Wed 9:00", "question": "key", "until": "Wed 18:00", "points": 20},
    ],
}


@functools.cache
def week() -> Any:
    return FORMAT.document.model_validate(SMALL)


@functools.cache
def library() -> Library:
    return scenarios.parse("week", SMALL)


@functools.cache
def drawn() -> ScenarioBank:
    """A few drawn weeks of every difficulty."""
    keys = jax.random.split(jax.random.key(3), COUNT)
    return ScenarioBank(jax.device_get(jax.jit(jax.vmap(Week().generate))(keys, jnp.linspace(0, 2, COUNT))))


# Arrays ------------------------------------------------------------------------------------------------


def test_what_a_document_compiles_to():
    found = compile(week())
    assert found.travel[:2, :2].tolist() == [[0, 2], [2, 0]]
    jobs = {name: getattr(found.jobs, name)[:6].tolist() for name in vars(found.jobs)}
    assert jobs["length"] == [1, 4, 2, 1, 2, 0]
    assert jobs["place"] == [NONE, NONE, 1, NONE, NONE, 0]
    assert (jobs["opens"], jobs["closes"]) == ([0, 4, 0, 0, 0, 0], [40, 16, 40, 40, 40, 0])
    assert (jobs["due"], jobs["points"]) == ([200, 200, 200, 200, 160, 0], [500, 1500, 1500, 2000, 1000, 0])
    assert (jobs["group"], jobs["needs"]) == ([NONE, 0, 0, 1, NONE, 0], [NONE, NONE, NONE, 0, NONE, 0])
    assert (jobs["value"], jobs["tells"]) == ([NONE, 0, 1, NONE, NONE, 0], [0, NONE, NONE, NONE, NONE, 0])
    assert jobs["known"] == [True, True, True, True, False, False]
    assert [column[:2].tolist() for column in vars(found.events).values()] == [
        *([8, 77], [3, 3], [1, NONE], [2000, 1000]),
        [True, False],
    ]
    assert [column[:4].tolist() for column in vars(found.facts).values()] == [
        *([1, 0, 1, 0], [0, 0, 0, 0]),
        [86, NEVER, NEVER, NEVER],
    ]
    posts = {name: getattr(found.posts, name)[:2, :3].tolist() for name in vars(found.posts)}
    assert posts["time"] == [[1, 5, 86], [4, 40, 84]]
    assert posts["kind"] == [[KINDS.index("request"), CHAT, 1], [1, KINDS.index("job"), KINDS.index("question")]]
    assert posts["ref"] == [[1, 0, 0], [2, 4, 2]]
    assert posts["until"] == [[77, 0, 0], [0, 0, 120]]  # a request waits until its meeting, where it says nothing
    assert posts["points"] == [[0, 0, 0], [0, 0, 2000]]


@pytest.mark.slow
def test_a_drawn_week_is_read_back_through_its_text():
    for index in range(COUNT):
        scenario = drawn()[index]
        text = decompile(scenario, f"week_{index}").plain()
        again = compile(FORMAT.document.model_validate(text))
        jax.tree.map(np.testing.assert_array_equal, scenario, again)
        assert not warnings(FORMAT.document.model_validate(text))


def test_a_document_is_read_back():
    again = decompile(compile(week()))
    jax.tree.map(np.testing.assert_array_equal, compile(again), compile(week()))


def test_other_capacities():
    limits = Limits(places=9, jobs=50, posts=40)
    assert FORMAT.limits_of(compile(week(), limits)) == limits


# Mistakes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (("meetings", 0, "at"), "Mon 10:10", 'expected a time such as "Tue 9:30"'),
        (("meetings", 0, "minutes"), 40, "expected minutes: a multiple of 15 from 15 to 180."),
        (("meetings", 0, "minutes"), 0, "expected minutes: a multiple of 15"),
        (("meetings", 0, "at"), "Mon 18:00", "a quarter hour from 8:00 to 17:45"),  # not Tue 8:00
        (("errands", 0, "begins"), "Mon 18:00", "a quarter hour from 8:00 to 17:45"),
        (("facts", 0, "changes"), "Mon 18:00", "a quarter hour from 8:00 to 17:45"),
        (("posts", 0, "at"), "Fri 18:00", "a quarter hour from 8:00 to 17:45"),
        (("posts", 0, "until"), "Mon 18:15", "a quarter hour from 8:00 to 18:00"),
        (("posts", 0, "until"), "Mon 18:00", "only a question or a request waits."),
        (("meetings", 1, "minutes"), 60, "it begins at Tue 17:15 and takes 60 minutes, and a day ends at 18:00."),
        (("meetings", 0, "place"), "ofice", "no place 'ofice'. Did you mean 'office'?"),
        (("errands", 0, "hours"), ["12:00", "9:00"], "two quarter hours"),
        (("errands", 0, "begins"), "Fri 8:00", "expected a time after begins, Fri 8:00."),
        (("errands", 0, "id"), "ring", "id 'ring' is repeated"),
        (("facts", 0, "id"), "form", "id 'form' is repeated, first in projects item 1 steps item 1"),
        (("facts", 0, "first"), "Bem", "no answer 'Bem'. Did you mean 'Ben'?"),
        (("facts", 0, "then"), "Ada", "expected both changes, a time, and then, an answer, or neither."),
        (("projects", 0, "steps", 0, "ways", 0, "answer"), "red", "no answer 'red'."),
        (("projects", 0, "steps", 1, "after"), "from", "no step 'from'. Did you mean 'form'?"),
        (("projects", 0, "scouts", 0, "tells"), "keys", "no fact 'keys'. Did you mean 'key'?"),
        (("posts", 0, "at"), "Mon 8:00", "expected a time from Mon 8:15 on, before Fri 18:00."),
        (("posts", 1, "at"), "Mon 8:15", "expected one a quarter hour"),
        (("posts", 1, "news"), "hand_in", "no fact 'hand_in'."),  # it hangs on nothing
        (("posts", 1, "news"), "kay", "no fact 'kay'. Did you mean 'key'?"),
        (("posts", 0, "job"), "milk", "a post is about one thing, expected one of news, job, question, request."),
        (("posts", 0, "points"), 3, "only a question pays points."),
        (("posts", 0, "channel"), "home", "no channel 'home'."),
    ],
)
def test_a_mistake_is_named(path, value, expected):
    document: Any = copy.deepcopy(SMALL)
    part = document
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    with pytest.raises(ScenarioError) as error:
        scenarios.parse("week", document)
    assert expected in str(error.value)
    assert len(error.value.problems) <= 3


def test_a_week_too_large_says_which_capacity_to_raise():
    found = problems(week(), Limits(jobs=4))
    assert [problem.text for problem in found] == [
        "5 jobs need 5, the capacity is 4 jobs. "
        "To raise it, pass limits=jaxenv.envs.week.Limits(jobs=5) here and to jaxenv.make."
    ]


def test_a_week_that_offers_other_than_a_hundred_points_is_remarked():
    assert not warnings(week())
    document = FORMAT.document.model_validate({**SMALL, "errands": []} | {"posts": SMALL["posts"][:3]})
    assert [remark.text for remark in warnings(document)] == [
        "the week offers 70 points, expected 100, so that a return is a percentage."
    ]


def test_what_nobody_can_do_or_know_is_remarked():
    posts = [post for post in SMALL["posts"] if not {"request", "job", "news"} & set(post)]
    ((project,), (errand,)) = copy.deepcopy((SMALL["projects"], SMALL["errands"]))
    del project["scouts"]
    project["steps"][0]["ways"][0] |= {"minutes": 180, "begins": "Mon 10:00", "due": "Tue 9:45"}  # 2 h and 45 min
    project["steps"][1]["ways"][0]["points"] = 25
    document = FORMAT.document.model_validate(SMALL | {"posts": posts, "projects": [project], "errands": [errand]})
    assert [(remark.path, remark.text) for remark in warnings(document)] == [
        (("meetings", 1), "it is not promised, and no post has it as request: nobody can attend it."),
        (("errands", 0), "it is not known, and no post has it as job: nobody can do it."),
        *[
            (path, "no post has it as news, and no scout tells it: its answer can only be guessed.")
            for path in (("projects", 0, "steps", 0), ("facts", 0))
        ],
        (
            ("projects", 0, "steps", 0, "ways", 0, "minutes"),
            "it takes 180 minutes, and of its hours from begins to due there are 165.",
        ),
    ]


def test_what_nobody_can_reply_to_in_time_is_remarked():
    texts = []
    for number, change in [(2, {"at": "Tue 17:15"}), (5, {"until": "Wed 9:00"}), (5, {"until": "Wed 9:15"})]:
        posts = [post | change if number == n else post for n, post in enumerate(SMALL["posts"])]
        texts.append([remark.text for remark in warnings(FORMAT.document.model_validate(SMALL | {"posts": posts}))])
    late = "nobody can reply in time: it is written at {}, and a reply helps until {}."
    assert texts == [[late.format("Tue 17:15", "Tue 17:15")], [late.format("Wed 9:00", "Wed 9:00")], []]
    posts = [{**SMALL["posts"][2], "at": "Wed 8:00", "until": "Thu 9:00"}]  # of a meeting that is over
    assert late.format("Wed 8:00", "Tue 18:00") in [
        remark.text for remark in warnings(FORMAT.document.model_validate(SMALL | {"posts": posts}))
    ]


# The library ---------------------------------------------------------------------------------------------


@functools.cache
def shelf() -> Library:
    return scenarios.load("week")


def test_the_library_has_eight_weeks_without_a_remark():
    assert (len(shelf()), shelf().warnings) == (8, ())
    for week in shelf().documents:
        assert week.title
        assert week.story
        assert week.difficulty is not None
        assert all(post.by and post.says for post in week.posts)
        assert all(record.name for record in (*week.places, *week.channels, *week.meetings, *week.jobs))


def test_news_say_what_is_true():
    for week in shelf().documents:
        facts = {fact.id: fact for fact in week.all_facts}
        for post in week.posts:
            if post.news:
                fact = facts[post.news]
                has_changed = fact.changes is not None and post.at >= fact.changes
                answer = fact.then if has_changed else fact.first or fact.answers[0]
                assert answer.lower() in post.says.lower()


def test_what_is_asked_was_told_before():
    for week in shelf().documents:
        for post in week.posts:
            if post.question:
                assert any(told.news == post.question and told.at < post.at for told in week.posts)


@pytest.mark.slow
def test_somebody_who_knows_the_week_wins_it():
    larger = scenarios.load("week", limits=Limits(posts=40))  # the planner plays in the capacities of the library
    assert list(solvers.winnable(larger).values()) == ["yes"] * len(shelf())


def test_more_changes_make_no_plan_worse():
    env = Week(limits=shelf().limits)
    params = env.params_for(shelf().bank)
    short, longer = (np.asarray(plan(env, params, rounds, candidates=4)) for rounds in (1, 4))
    assert (longer >= short).all()
    assert longer.mean() > short.mean() > 50


# Words of a running week -----------------------------------------------------------------------------------


def episode(*wanted: dict[str, Any]) -> tuple[Codec, Any]:
    """The codec, and the state after some actions in words."""
    env = Week()
    codec = Codec(env, env.params_for(library().bank), library())
    _, state = env.reset(jax.random.key(0), codec.params, 0)
    for action in wanted:
        state = step()(state, codec.encode(state, action), codec.params)
    return codec, state


@functools.cache
def step():
    return jax.jit(lambda state, action, params: Week().transition(jax.random.key(0), state, action, params)[0])


def test_every_legal_action_is_its_own_word():
    codec, state = episode({"action_type": "rest"}, {"action_type": "open", "target": "team"})
    legal = codec.legal_actions(state)
    assert [codec.encode(state, action) for _, action in legal] == [index for index, _ in legal]
    assert [action["target"] for _, action in legal if action["action_type"] == "reply"] == ["yes", "no"]
    assert [action["target"] for _, action in legal if action["action_type"] == "go"] == ["office"]  # no sixth place
    assert [action["target"] for _, action in legal if action["action_type"] == "open"] == ["team"]  # yet


def test_a_message_is_replied_to_in_its_words():
    opens, replies = {"action_type": "open", "target": "team"}, {"action_type": "reply", "target": "yes"}
    codec, state = episode({"action_type": "rest"}, opens, replies)
    meeting = codec.observation(state)["meetings"][1]
    assert (meeting["name"], meeting["start"], meeting["end"]) == ("call", "Tue 17:15", "Tue 18:00")
    assert meeting["status"] == "promised"


def test_a_request_is_seen_while_it_can_be_answered():
    codec, state = episode({"action_type": "rest"}, {"action_type": "open", "target": "team"})
    assert [meeting["status"] for meeting in codec.observation(state)["meetings"]] == ["promised", "asked"]
    state = step()(state, codec.encode(state, {"action_type": "rest"}), codec.params)
    assert [meeting["status"] for meeting in codec.observation(state)["meetings"]] == ["promised"]


def test_what_is_over_is_not_observed():
    codec, state = episode({"action_type": "go", "target": "office"}, *[{"action_type": "rest"}] * 2)
    for _ in range(2):
        state = step()(state, codec.encode(state, {"action_type": "work", "target": "fill_green"}), codec.params)
    assert [job["name"] for job in codec.observation(state)["jobs"]] == ["ring", "post_it"]
    for _ in range(8):
        state = step()(state, codec.encode(state, {"action_type": "rest"}), codec.params)
    assert codec.observation(state)["meetings"] == []
    assert json.loads(json.dumps(codec.observation(state))) == codec.observation(state)


def test_what_is_seen_in_words():
    actions = [{"action_type": "go", "target": "office"}] + [{"action_type": "rest"}] * 3
    codec, state = episode(*actions, {"action_type": "open", "target": "family"})
    seen = codec.observation(state)
    assert (seen["time"], seen["place"], seen["distances"]) == (
        "Mon 9:15",
        "The office",
        {"home": 30, "The office": 0},
    )
    assert seen["notes"] == [{"question": "Who has the key?", "answer": "Ben", "age": 15}]
    assert seen["messages"][0] == {
        "author": "Ada",
        "text": "Ben has the key.",
        "kind": "news",
        "about": "Who has the key?",
        "told": "Ben",
        "waits": None,
        "answers": [],
    }
    assert seen["unread"] == {"team": 2, "Family": 0}
    assert [job["name"] for job in seen["jobs"]] == [
        "ring",
        "fill_blue",
        "fill_green",
        "post_it",
    ]  # nobody told of milk
    assert [job["status"] for job in seen["jobs"]] == ["open", "open", "open", "later"]
