"""Times of day as on a clock: read wherever minutes after midnight are, and written in quotes."""

import jsonschema
import pytest
import yaml

import scenarios
from jaxenv.rendering.text import clock
from scenarios.lifeops.document import minutes_of

TIMED = """\
persona:
  persona_id: me
  home_location: Home
  primary_work_location: Office
  preferred_meeting_window: {window}
  avoid_meetings_before_min: {early}
  avoid_meetings_after_min: {late}
calendar:
  - {{event_id: e1, start_min: {start}, end_min: {end}, location: Office}}
pending_requests:
  - {{event_id: r1, start_min: {start}, end_min: {end}, location: Office}}
"""
MINUTES = {"window": [545, 1000], "early": 0, "late": 1440, "start": 850, "end": 925}
CLOCKS = {"window": '["9:05", "16:40"]', "early": '"0:00"', "late": '"24:00"', "start": '"14:10"', "end": '"15:25"'}


def load(tmp_path, times):
    (file := tmp_path / "day.yaml").write_text(TIMED.format(**times))
    return scenarios.load(file)


def test_every_time_of_a_day_can_be_as_on_a_clock(tmp_path):
    expected = load(tmp_path, MINUTES)
    assert load(tmp_path, CLOCKS).documents == expected.documents
    for bare in ({"start": "14:10", "end": "15:25"}, {"window": "[09:05, 16:40]", "early": "00:00"}):
        found = load(tmp_path, CLOCKS | bare)
        assert found.documents == expected.documents
        assert found.bank.fingerprint() == expected.bank.fingerprint()


def test_without_quotes_other_readers_of_yaml_find_the_same_minutes():
    assert yaml.safe_load("[14:10, 23:59]") == [minutes_of("14:10"), minutes_of("23:59")]
    # these they leave as text, which reads as well
    assert [minutes_of(time) for time in yaml.safe_load("[09:05, 0:30]")] == [545, 30]


def test_records_and_actions_take_times_too():
    event = scenarios.lifeops.Event(event_id="e", start_min="9:00", end_min="10:30", location="Office")
    assert (event.start_min, event.end_min) == (540, 630)
    action = {"action_type": "block_focus_time", "new_start_min": "9:00", "duration_min": 30}
    assert scenarios.lifeops.Action.model_validate(action).new_start_min == 540


@pytest.mark.parametrize("time", [*range(0, 1440, 37), 59, 60, 1439, 1440])
def test_a_clock_reads_what_it_writes(time):
    assert minutes_of(clock(time)) == time


@pytest.mark.parametrize(
    "text", ["25:99", "24:01", "14:60", "14:1", "14.10", "-1:00", "1:00 pm", " 9:30", "9:30\n", "٩:30"]
)
def test_what_no_clock_shows_stays_text(text):
    assert minutes_of(text) == text


def test_days_are_written_with_times_in_quotes(tmp_path):
    (day,) = load(tmp_path, MINUTES).documents
    text = scenarios.dump(day)
    for line in ('start_min: "14:10", end_min: "15:25"', '["9:05", "16:40"]', '"0:00"', '"24:00"'):
        assert line in text
    (tmp_path / "day.yaml").write_text(text)
    assert scenarios.load(tmp_path / "day.yaml").documents == (day,)
    assert scenarios.parse("lifeops", yaml.safe_load(text)).documents == (day,)  # by any reader of YAML
    assert day.model_dump()["calendar"][0]["start_min"] == 850  # observations and traces keep minutes


def test_editors_accept_the_same_times():
    schema = jsonschema.Draft7Validator(scenarios.schema("lifeops"))
    assert schema.is_valid(yaml.safe_load(TIMED.format(**CLOCKS)))
    for field in CLOCKS:
        assert not schema.is_valid(yaml.safe_load(TIMED.format(**CLOCKS | {field: '"25:99"'}))), field


def test_text_that_looks_like_a_time_is_written_in_quotes():
    (day,) = scenarios.load("lifeops/easy_1").documents
    text = scenarios.dump(day.model_copy(update={"scenario_id": "12:30:45"}))
    assert 'scenario_id: "12:30:45"' in text
    assert yaml.safe_load(text)["scenario_id"] == "12:30:45"
