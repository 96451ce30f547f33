"""Names of libraries for the pictures, until `scenarios.Library` has a method `names` of its own."""

import scenarios
from scenarios.lifeops.compiler import task_order
from scenarios.lifestack.facts import Facts
from scenarios.teamsclone.texts import texts


def lifeops(day, documents):
    tasks = [day.tasks[number] for number in task_order(day)]
    used = {day.persona.home_location, day.persona.primary_work_location}
    used |= {event.location for event in (*day.calendar, *day.pending_requests)}
    return {
        "scenario": day.scenario_id,
        "places": {index: place for index, place in enumerate(day.places) if place in used},
        "events": tuple(event.title or event.event_id for event in day.calendar),
        "requests": tuple(request.title or request.event_id for request in day.pending_requests),
        "people": tuple(request.from_person for request in day.pending_requests),
        "tasks": tuple(task.title or task.task_id for task in tasks),
    }


def lifestack(task, documents):
    values = Facts.of(task).values
    return {
        "task": task.id,
        "domain": task.domain,
        "goal": task.goal,
        "keys": tuple(values),
        "values": tuple(
            tuple(str(value).lower() if isinstance(value, bool) else str(value) for value in taken)
            for taken in values.values()
        ),
        "routes": tuple(route.name or route.id for route in task.viable_routes),
        "milestones": tuple(milestone.description or milestone.id for milestone in task.milestones),
        "events": tuple(event.id for event in task.event_schedule),
        "stories": tuple(event.description for event in task.event_schedule),
    }


def teamsclone(workspace, documents):
    codes = {text: code for code, text in enumerate(texts(documents))}
    return {
        "workspace": workspace.id,
        "teams": tuple(team.name or team.id for team in workspace.teams),
        "channels": tuple(channel.name or channel.id for team in workspace.teams for channel in team.channels),
        "team_of": tuple(number for number, team in enumerate(workspace.teams) for _ in team.channels),
        "users": tuple(user.name or user.id for user in workspace.users),
        "texts": {codes[text]: text for text in workspace.all_texts()},
    }


def names(library, index):
    return globals()[library.environment](library.documents[index], library.documents)


if not hasattr(scenarios.Library, "names"):
    scenarios.Library.names = names
