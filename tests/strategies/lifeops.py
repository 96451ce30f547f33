"""Hypothesis strategies for LifeOps documents that try the edges of the rules."""

from hypothesis import strategies as st

PLACES = ("Home", "Office", "Downtown", "Gym", "Nowhere")
KINDS = ("meeting", "obligation", "focus", "personal")
WEEKDAYS = ("Monday", "Tuesday", "Friday", None)

# Few distinct times, so that events touch, nest and tie; both ends of the day among them.
TIMES = st.sampled_from([0, 5, 20, 480, 510, 530, 540, 545, 570, 600, 630, 660, 690, 720, 840, 870, 900, 1020, 1200])
LENGTHS = st.sampled_from([0, 0, 5, 15, 30, 30, 60, 60, 240, 600])


@st.composite
def timed(draw, event_id):
    """An event mapping."""
    start = draw(TIMES)
    return {
        "event_id": event_id,
        "start_min": start,
        "end_min": min(start + draw(LENGTHS), 1440),
        "location": draw(st.sampled_from(PLACES)),
        "importance": draw(st.integers(1, 3)),
        "kind": draw(st.sampled_from(KINDS)),
    }


@st.composite
def personas(draw):
    """A library persona's id, or a mapping."""
    if draw(st.booleans()):
        return draw(st.sampled_from(["early_bird_engineer", "night_owl_creator", "busy_parent"]))
    window = sorted(draw(st.lists(TIMES, min_size=2, max_size=2)))
    return {
        "persona_id": "somebody",
        "home_location": draw(st.sampled_from(PLACES)),
        "primary_work_location": draw(st.sampled_from(PLACES)),
        "preferred_meeting_window": window,
        "avoid_meetings_before_min": draw(st.none() | TIMES),
        "avoid_meetings_after_min": draw(st.none() | TIMES),
        "preference_weight": draw(st.sampled_from([0.5, 1.0, 1.25])),
        "travel_aversion_weight": draw(st.sampled_from([0.5, 1.0, 1.25])),
        "focus_time_weight": draw(st.sampled_from([0.5, 1.0, 1.25])),
    }


@st.composite
def documents(draw):
    """A scenario document that is not over before its first step."""
    requests = [
        draw(timed(f"r{i}")) | {"flexible": draw(st.booleans())}
        for i in range(draw(st.sampled_from([0, 1, 1, 2, 4, 6])))
    ]
    tasks = [
        {
            "task_id": f"t{i}",
            "remaining_minutes": draw(st.sampled_from([0, 10, 30, 45, 60, 100])),
            "priority": draw(st.integers(1, 3)),
            "due_in_days": draw(st.sampled_from([None, 0, 1, 2])),
        }
        for i in draw(st.permutations([1, 2, 10]))[: draw(st.integers(0, 3))]
    ]
    if not requests and not any(task["remaining_minutes"] for task in tasks):
        requests = [draw(timed("r0")) | {"flexible": True}]
    cells = st.dictionaries(st.sampled_from(PLACES[:4]), st.sampled_from([0, 5, 15, 25, 45, 90]), max_size=4)
    document = {
        "scenario_id": "drawn",
        "persona": draw(personas()),
        "calendar": [draw(timed(f"e{i}")) for i in range(draw(st.integers(0, 7)))],
        "tasks": tasks,
        "pending_requests": requests,
        "travel_times": draw(st.dictionaries(st.sampled_from(PLACES[:4]), cells, max_size=4)),
        "day_of_week": draw(st.sampled_from(WEEKDAYS)),
    }
    limit = draw(st.sampled_from([None, None, 1, 3, 10]))
    return document if limit is None else document | {"max_steps": limit}
