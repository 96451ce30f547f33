"""Small edits of workspaces, for curricula that build on the workspaces that still teach something.

Whatever `generate` promises of every workspace holds after any number of edits: 2 to 7 teammates, channels and initial
messages within the capacities, rates, waits and mentions within what is drawn, nobody and nothing in padding. The
shares in which habits are drawn are not kept. Integers throughout, so that every batch size edits alike.
"""

from collections.abc import Mapping
from types import MappingProxyType

import jax
import jax.numpy as jnp

from jaxenv.core.edits import Edit, edited
from jaxenv.core.types import Key
from jaxenv.envs.teamsclone.mutation import channels, teammates, workspace
from jaxenv.envs.teamsclone.types import Scenario

EDITS: Mapping[str, Edit] = MappingProxyType(
    {
        "start in": Edit(channels.can_start, channels.start_in),
        "lengthen calls": Edit(workspace.always, workspace.lengthen_calls),
        "hurry answers": Edit(workspace.always, workspace.hurry_answers),
        "ring": Edit(channels.channel_exists, channels.ring),
        "add channel": Edit(channels.can_add_channel, channels.add_channel),
        "drop channel": Edit(channels.can_drop_channel, channels.drop_channel),
        "add message": Edit(channels.can_add_message, channels.add_message),
        "drop message": Edit(channels.can_drop_message, channels.drop_message),
        "greet": Edit(teammates.user_exists, teammates.greet),
        "post": Edit(teammates.user_exists, teammates.post),
        "ask": Edit(teammates.can_ask, teammates.ask),
        "talk": Edit(teammates.user_exists, teammates.talk),
        "gather": Edit(teammates.user_exists, teammates.gather),
        "stay": Edit(teammates.can_stay, teammates.stay),
        "add user": Edit(teammates.can_add_user, teammates.add_user),
        "drop user": Edit(teammates.can_drop_user, teammates.drop_user),
    }
)
"""Name -> edit; each is as likely as any other that can be made."""


def mutate(key: Key, scenario: Scenario) -> Scenario:
    """The workspace after one edit of `EDITS`."""
    return edited(key, jax.tree.map(jnp.asarray, scenario), EDITS)
