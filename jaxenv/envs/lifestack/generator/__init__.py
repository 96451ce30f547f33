"""Crises drawn at random, for endless training: key -> Scenario, jittable, winnable by construction."""

from jaxenv.envs.lifestack.generator.generate import generate as generate
