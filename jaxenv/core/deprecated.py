"""Former names, which work for one more version and warn."""

import warnings


def renamed(name: str) -> property:
    """The former name of a field, as a property: `horizon = renamed("max_steps")` in the record's class."""

    def read(record: object) -> object:
        kind = type(record).__name__
        warnings.warn(f"this field of {kind} is now {kind}.{name}", DeprecationWarning, stacklevel=2)
        return getattr(record, name)

    return property(read, doc=f"The former name of `{name}`.")
