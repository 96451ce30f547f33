"""The commands of `jaxenv`."""
