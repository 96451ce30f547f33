"""Python documents that nobody would write: `parse` ends with a sentence, whatever their objects do."""

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

import scenarios
from scenarios import ScenarioError, lifeops
from scenarios.loading import ENVIRONMENTS
from scenarios.text.input_budget import MAX_DOCUMENTS, MAX_VALUES

DAY: dict[str, Any] = {"persona": "busy_parent", "tasks": [{"task_id": "t1", "remaining_minutes": 30}]}


class Endless(list):
    """A list that never ends where it is gone through."""

    def __iter__(self) -> Iterator[Any]:
        return itertools.repeat(DAY)


class Deep(list):
    """A list of such lists, without end in both directions."""

    def __iter__(self) -> Iterator[Any]:
        return (Deep() for _ in itertools.count())


class Nameless(type):
    """A class of classes whose names cannot be read."""

    @property
    def __name__(cls) -> str:  # pyright: ignore
        raise RuntimeError


class Odd(Exception, metaclass=Nameless):
    """An object and an error of such a class."""


class EndlessKey(tuple):
    """A key that never ends."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return itertools.repeat(1)


class EndlessMapping(Mapping):
    """A mapping that never ends."""

    def __getitem__(self, key: str) -> Any:
        return 1

    def __iter__(self) -> Iterator[str]:
        return map(str, itertools.count())

    def __len__(self) -> int:
        return 1


class Failing:
    """An iterable that fails before the first document."""

    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("\ud800")


class Liar:
    """Something that says it is a truth value."""

    @property
    def __class__(self) -> type:  # pyright: ignore
        return bool


class FailingOddly:
    """An iterable whose error has no name."""

    def __iter__(self) -> Iterator[Any]:
        raise Odd


def failing_later() -> Iterator[Any]:
    yield DAY
    raise KeyError


def refused(documents: Any, environment: Any = "lifeops", **more: Any) -> str:
    with pytest.raises(ScenarioError) as error:
        scenarios.parse(environment, documents, **more)
    return str(error.value)


@pytest.mark.parametrize("documents", [Failing, FailingOddly, failing_later], ids=lambda made: made.__name__)
def test_what_fails_while_it_is_gone_through(documents: Callable[[], Any]) -> None:
    assert refused(documents()).startswith("documents: cannot be read: ")


def test_documents_without_end() -> None:
    for documents in (itertools.repeat(DAY), Endless()):
        assert refused(documents) == f"more than {MAX_DOCUMENTS} documents: parse them in several calls."


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({**DAY, "tasks": Endless()}, f"more than {MAX_VALUES} values"),
        ({**DAY, "tags": [Endless()]}, f"more than {MAX_VALUES} values"),
        ({**DAY, "tags": Deep()}, "more than 20 levels of nesting"),
        ({**DAY, "tags": Odd()}, "tags: found Odd, expected text"),
        ({**DAY, "travel_times": EndlessMapping()}, f"more than {MAX_VALUES} values"),
        ({**DAY, EndlessKey(): 1}, "found EndlessKey as a key, expected text."),
        ({**DAY, "tags": [Liar()]}, "cannot be read: TypeError."),
    ],
)
def test_parts_without_end_and_parts_that_lie(document: Any, words: str) -> None:
    message = refused(document)
    assert message.startswith("document 1: ")
    assert words in message


class Hashless(str):
    """Text that cannot be looked up."""

    __slots__ = ()

    def __hash__(self) -> int:
        raise RuntimeError

    def __eq__(self, other: object) -> bool:
        raise RuntimeError


def test_names_of_environments() -> None:
    for name in ([], None, 3, {}):
        assert refused(DAY, name) == f"the name of an environment is text, found {type(name).__name__}."
    assert scenarios.parse(Hashless("lifeops"), DAY).ids == ("scenario_1",)
    assert "Did you mean 'lifeops'?" in refused(DAY, Hashless("lifeop"))


BROKEN = [
    lifeops.Day.model_construct(),
    lifeops.Day.model_construct(**(DAY | {"tasks": 3})),
    lifeops.Day.model_construct(persona=lifeops.Persona.model_construct(), tasks=DAY["tasks"]),
    {**DAY, "tasks": [lifeops.Task.model_construct()]},
    {**DAY, "calendar": (lifeops.Event.model_construct(start_min=None),)},
    {**DAY, "pending_requests": [lifeops.Request.model_construct(kind=[[]])]},
    {**DAY, "persona": lifeops.Persona.model_construct(preferred_meeting_window=Endless())},
    lifeops.Event.model_construct(),
    lifeops.Task.model_construct(task_id="t1"),
    lifeops.Request.model_construct(),
    lifeops.Persona.model_construct(),
]


@pytest.mark.parametrize("document", BROKEN, ids=range(len(BROKEN)))
def test_records_that_nothing_has_checked(document: Any) -> None:
    message = refused(document)
    assert all(line.startswith("document 1: ") for line in message.splitlines())
    assert "cannot be read" not in message


def test_a_missing_field_of_a_record_is_named() -> None:
    assert refused(lifeops.Day.model_construct()) == "document 1: the field 'persona' is missing."


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_records_are_read_as_they_were_written(name: str) -> None:
    documents = scenarios.load(name).documents
    again = scenarios.parse(name, documents).documents
    assert again == documents
    assert scenarios.dump(again) == scenarios.dump(documents)


@pytest.mark.parametrize("limits", [3, {"events": 3}, Endless(), lifeops.Day, Odd()])
def test_limits_of_another_class(limits: Any) -> None:
    words = r"^limits: found \w+, expected the capacities of jaxenv\.envs\.lifeops\.Limits\.$"
    for read in (lambda: scenarios.parse("lifeops", DAY, limits), lambda: scenarios.load("lifeops", limits=limits)):
        with pytest.raises(ScenarioError, match=words):
            read()


def test_limits_of_another_class_beside_a_file_that_cannot_be_read(tmp_path: Any) -> None:
    (tmp_path / "broken.yaml").write_text("id: [")
    (tmp_path / "day.json").write_text(json.dumps(DAY))
    with pytest.raises(ScenarioError, match=r"broken\.yaml(.|\n)*expected the capacities of"):
        scenarios.load(tmp_path, limits=3)
