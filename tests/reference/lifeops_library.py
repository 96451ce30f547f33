"""The twelve library scenarios of LifeOps as documents, from the tables of docs/rules/lifeops.md, section 2."""

from __future__ import annotations

from reference.lifeops import TRAVEL_TIMES, Record

# scenario, persona, weekday, tags, max_steps
SCENARIOS = """
easy_1              early_bird_engineer  Thursday   easy              6
easy_2              busy_parent          Tuesday    easy              6
medium_1            night_owl_creator    Wednesday  medium            6
medium_2            busy_parent          Friday     medium            6
edge_cascade_1      early_bird_engineer  Wednesday  edge,cascade      8
edge_mood_monday_1  night_owl_creator    Monday     edge,mood_monday  6
edge_deadline_1     busy_parent          Thursday   edge,deadline     8
s1_basic_conflict   early_bird_engineer  Wednesday  hard              6
s2_travel_tight     night_owl_creator    Tuesday    hard              6
s3_focus_vs_meeting early_bird_engineer  Thursday   hard              6
s4_parent_pickup    busy_parent          Friday     hard              6
s5_late_meeting     early_bird_engineer  Monday     hard              6
"""

# scenario, event_id, start_min, end_min, location, importance, kind; the order is the calendar's
EVENTS = """
easy_1              e1  600   630   Office    2  meeting
easy_1              e2  750   780   Office    1  personal
easy_2              e1  570   630   Home      2  personal
easy_2              e2  645   720   Home      2  focus
medium_1            e1  660   690   Downtown  1  personal
medium_1            e2  720   780   Downtown  2  focus
medium_1            e3  900   930   Office    2  meeting
medium_1            e4  1080  1140  Gym       1  personal
medium_2            e1  540   660   Office    2  focus
medium_2            e2  720   750   Downtown  3  obligation
medium_2            e3  780   870   Office    2  focus
medium_2            e4  930   960   School    3  obligation
edge_cascade_1      e1  540   600   Office    2  focus
edge_cascade_1      e2  720   750   Office    2  meeting
edge_cascade_1      e3  1020  1050  Office    1  personal
edge_mood_monday_1  e1  660   750   Home      2  focus
edge_mood_monday_1  e2  960   990   Downtown  1  personal
edge_deadline_1     e1  510   540   School    3  obligation
edge_deadline_1     e2  570   660   Office    2  focus
edge_deadline_1     e4  660   720   Office    3  focus
edge_deadline_1     e5  750   780   Office    1  personal
edge_deadline_1     e6  810   840   Office    2  focus
edge_deadline_1     e3  930   960   School    3  obligation
s1_basic_conflict   e1  570   600   Office    2  meeting
s1_basic_conflict   e2  600   660   Office    1  focus
s2_travel_tight     e1  690   735   Downtown  2  meeting
s3_focus_vs_meeting e1  780   900   Office    2  focus
s4_parent_pickup    e1  540   720   Office    2  focus
s4_parent_pickup    e2  900   930   School    3  obligation
s5_late_meeting     e1  960   1020  Office    2  meeting
"""

# scenario, event_id, start_min, end_min, location, importance, flexible; the order is the queue's
REQUESTS = """
easy_1              r1      660   690   Office  2  yes
easy_2              r1      495   510   Home    1  yes
medium_1            r1      790   820   Office  2  yes
medium_2            r1      735   765   Office  2  yes
edge_cascade_1      r_low   600   630   Office  1  yes
edge_cascade_1      r_imp1  600   630   Office  3  no
edge_cascade_1      r_imp2  630   660   Office  3  no
edge_mood_monday_1  r1      750   780   Home    1  yes
edge_deadline_1     r1      660   690   Office  2  yes
edge_deadline_1     r2      780   810   Office  2  yes
edge_deadline_1     r3      720   750   Office  1  yes
s1_basic_conflict   r1      585   615   Office  3  no
s2_travel_tight     r1      740   770   Office  2  yes
s3_focus_vs_meeting r1      840   870   Office  1  yes
s4_parent_pickup    r1      910   940   Office  3  no
s5_late_meeting     r1      1110  1140  Home    2  yes
"""

# scenario, task_id, remaining_minutes, priority, due_in_days
TASKS = """
medium_1            t1     60   2  3
medium_2            t1     45   3  2
edge_cascade_1      t1     60   3  1
edge_mood_monday_1  t1     60   2  2
edge_deadline_1     goal1  180  3  0
s1_basic_conflict   t1     90   3  null
s2_travel_tight     t1     60   2  null
s3_focus_vs_meeting t1     120  3  null
s3_focus_vs_meeting t2     45   1  null
s4_parent_pickup    t1     75   3  null
s5_late_meeting     t1     60   2  null
"""

WORDS = {"yes": True, "no": False, "null": None}
EVENT_FIELDS = ("event_id", "start_min", "end_min", "location", "importance", "kind")
REQUEST_FIELDS = ("event_id", "start_min", "end_min", "location", "importance", "flexible")
TASK_FIELDS = ("task_id", "remaining_minutes", "priority", "due_in_days")


def _value(word: str) -> object:
    return int(word) if word.isdigit() else WORDS.get(word, word)


def _rows(table: str, fields: tuple[str, ...], scenario_id: str) -> list[Record]:
    lines = [line.split() for line in table.split("\n") if line]
    return [dict(zip(fields, map(_value, words), strict=True)) for name, *words in lines if name == scenario_id]


def _document(line: str) -> Record:
    scenario_id, persona, weekday, tags, max_steps = line.split()
    return {
        "scenario_id": scenario_id,
        "persona": persona,
        "calendar": _rows(EVENTS, EVENT_FIELDS, scenario_id),
        "tasks": _rows(TASKS, TASK_FIELDS, scenario_id),
        "pending_requests": [
            {**request, "kind": "meeting"} for request in _rows(REQUESTS, REQUEST_FIELDS, scenario_id)
        ],
        "travel_times": {place: dict(row) for place, row in TRAVEL_TIMES.items()},
        "day_of_week": weekday,
        "tags": tags.split(","),
        "max_steps": int(max_steps),
    }


LIBRARY: dict[str, Record] = {line.split()[0]: _document(line) for line in SCENARIOS.strip().split("\n")}
