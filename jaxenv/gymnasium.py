"""Importing this registers the environments with Gymnasium: `gymnasium.make("jaxenv.gymnasium:jaxenv/LifeOps-v0")`."""

from jaxenv.wrappers.gymnasium import register_gymnasium

register_gymnasium()
