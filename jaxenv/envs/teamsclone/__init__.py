"""TeamsClone: take part in a team's chat: `TeamsClone-v0` and its variants (docs/rules/teamsclone.md)."""

from jaxenv.core.environment import Family
from jaxenv.envs.teamsclone import baseline, reward
from jaxenv.envs.teamsclone.env import TeamsClone as TeamsClone
from jaxenv.envs.teamsclone.types import Limits as Limits
from jaxenv.envs.teamsclone.types import Observation as Observation
from jaxenv.envs.teamsclone.types import Params as Params
from jaxenv.envs.teamsclone.types import Scenario as Scenario
from jaxenv.envs.teamsclone.types import State as State
from jaxenv.envs.teamsclone.types import Statistics as Statistics


def classic(limits: Limits = Limits()) -> TeamsClone:
    """`TeamsClone-v0`: the environment of the specification."""
    return TeamsClone(limits=limits)


def mentions(limits: Limits = Limits()) -> TeamsClone:
    """`TeamsClone-Mentions-v0`: answer 3 to 8 mentions of the first half; over when all have been addressed."""
    return TeamsClone("TeamsClone-Mentions-v0", reward.MENTIONS, goal="mentions", limits=limits)


def multi_task(limits: Limits = Limits()) -> TeamsClone:
    """`TeamsClone-MultiTask-v0`: a weighted sum of mentions, meetings and exploration, with more calls."""
    return TeamsClone("TeamsClone-MultiTask-v0", reward.multi_task(), call_rate=0.01, limits=limits)


def multi_agent(num_agents: int = 4, limits: Limits = Limits()) -> TeamsClone:
    """`TeamsClone-MultiAgent-v0`: N agents in one workspace, until enough mentions are answered and calls joined."""
    return TeamsClone("TeamsClone-MultiAgent-v0", goal="quota", num_agents=num_agents, limits=limits)


def multi_agent_share(num_agents: int = 4, limits: Limits = Limits()) -> TeamsClone:
    """`TeamsClone-MultiAgent-v1`: the quota is a share of the offers of the episode, and pays the remaining steps."""
    return TeamsClone(
        "TeamsClone-MultiAgent-v1", reward.QUOTA, goal="quota", quota_share=0.75, num_agents=num_agents, limits=limits
    )


FAMILY = Family(
    "teamsclone",
    TeamsClone,
    {
        "TeamsClone-v0": classic,
        "TeamsClone-Mentions-v0": mentions,
        "TeamsClone-MultiTask-v0": multi_task,
        "TeamsClone-MultiAgent-v0": multi_agent,
        "TeamsClone-MultiAgent-v1": multi_agent_share,
    },
    baseline.baselines,
)
