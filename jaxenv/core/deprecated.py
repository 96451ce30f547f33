"""Former names, which work for one more version and warn."""

import warnings


def renamed(name: str) -> property:
    """The former name of a field: a property of its record that reads `name` and warns."""

    def read(record: object) -> object:
        kind = type(record).__name__
        warnings.warn(f"this field of {kind} is now {kind}.{name}", DeprecationWarning, stacklevel=2)
        return getattr(record, name)

    return property(read, doc=f"The former name of `{name}`.")
