"""The numbers of docs/rules/lifeops.md as tables: defaults, personas, travel times, coefficients, catalogues."""

from typing import Any

Record = dict[str, Any]
Matrix = dict[str, dict[str, int]]

DAY_END = 1440
DEFAULT_TRAVEL = 30
START = "__start__"
MEETING_LIKE = ("meeting", "obligation", "personal")
BLOCKED_HOURS = ((0, 540), (1200, 1380))

PERSONA_DEFAULTS: Record = {
    "name": "",
    "avoid_meetings_before_min": None,
    "avoid_meetings_after_min": None,
    "preference_weight": 1.0,
    "travel_aversion_weight": 1.0,
    "focus_time_weight": 1.0,
}
EVENT_DEFAULTS: Record = {"title": "", "importance": 1, "kind": "meeting"}
REQUEST_DEFAULTS: Record = {**EVENT_DEFAULTS, "from_person": "", "flexible": True}
TASK_DEFAULTS: Record = {"title": "", "priority": 2, "due_in_days": None}

# fmt: off
PERSONA_FIELDS = (
    "persona_id", "name", "home_location", "primary_work_location",
    "preferred_meeting_window", "avoid_meetings_before_min", "avoid_meetings_after_min",
    "preference_weight", "travel_aversion_weight", "focus_time_weight",
)
PERSONA_ROWS = (
    ("early_bird_engineer", "Early-bird Engineer", "Home", "Office",
     [540, 990], None, 1050, 1.2, 1.0, 1.1),
    ("night_owl_creator", "Night-owl Creator", "Home", "Downtown",
     [660, 1140], 600, None, 1.2, 0.8, 1.0),
    ("busy_parent", "Busy Parent", "Home", "Office",
     [570, 900], 510, 960, 1.4, 1.2, 0.9),
)
# fmt: on
PERSONAS: dict[str, Record] = {row[0]: dict(zip(PERSONA_FIELDS, row, strict=True)) for row in PERSONA_ROWS}

TRAVEL_TIMES: Matrix = {
    "Home": {"Home": 0, "Office": 25, "Downtown": 35, "Gym": 20, "School": 12},
    "Office": {"Home": 25, "Office": 0, "Downtown": 18, "Gym": 10, "School": 28},
    "Downtown": {"Home": 35, "Office": 18, "Downtown": 0, "Gym": 30, "School": 30},
    "Gym": {"Home": 20, "Office": 10, "Downtown": 30, "Gym": 0, "School": 30},
    "School": {"Home": 12, "Office": 28, "Downtown": 30, "Gym": 30, "School": 0},
}

# A coefficient carries its sign; a part that a rule set does not have has coefficient 0.
COEFFICIENTS: dict[str, tuple[float, float]] = {  # name: (classic, shaped)
    "overlap": (-5.0, -3.0),
    "travel": (-4.0, -2.0),
    "handled_request": (0.0, 0.5),
    "rejected_important": (-4.0, -3.0),
    "rejected_low_importance": (0.0, 0.5),
    "preference_unit": (-2.0, -1.5),
    "preference_bonus": (0.0, 1.0),
    "focus_base": (1.0, 3.0),
    "focus_per_minute": (0.02, 0.02),
    "wasted_focus": (-0.5, -0.5),
    "feasible_schedule_important": (0.0, 4.0),
    "feasible_schedule_other": (0.0, 2.0),
    "feasible_proposal": (0.0, 2.0),
    "inflexible_reschedule": (0.0, -5.0),
    "cascade": (0.0, -3.0),
    "monday_cancellation": (0.0, -4.0),
    "deadline_per_minute": (0.0, -0.01),
    "deadline_limit": (2.0, 2.0),
    "truncation_goal_miss": (0.0, -4.0),
    "progress_per_minute": (0.0, 0.01),
    "progress_limit": (2.0, 2.0),
    "invalid_action": (-1.0, -1.0),
}

# Raw candidate starts are the request's start plus each shift, then the fixed request starts.
RULES: dict[str, Record] = {
    "classic": {
        "request_shifts": (-30, 30, 60),
        "request_starts": (),
        "focus_starts": (540, 660, 840, 960),
        "focus_durations": (30, 60),
        "reward": {name: classic for name, (classic, _) in COEFFICIENTS.items()},
    },
    "shaped": {
        "request_shifts": (-120, -90, -60, -30, 30, 60, 90, 120),
        "request_starts": (540, 600, 660, 780, 840, 900, 960, 1020),
        "focus_starts": (540, 660, 840, 960, 1200, 1260),
        "focus_durations": (30, 60),
        "reward": {name: shaped for name, (_, shaped) in COEFFICIENTS.items()},
    },
}
