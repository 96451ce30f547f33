"""The environments, a folder for each family; they do not import each other."""

from jaxenv.core.environment import Family
from jaxenv.envs import lifeops, lifestack, teamsclone, week

FAMILIES: tuple[Family, ...] = (lifeops.FAMILY, lifestack.FAMILY, teamsclone.FAMILY, week.FAMILY)
"""All families, in the order of their ids in `jaxenv.registered()`."""
