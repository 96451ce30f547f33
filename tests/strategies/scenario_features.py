"""What scenarios make use of, for every environment: fields that are not padding, and counts."""

import numpy as np


def used_fields(found, *, unset=None, skip=(), name=""):
    """{field: [N] bool} whether a record of N scenarios, as NumPy arrays, has anything but its padding in the field.

    Args:
        found: the record.
        unset: a record of the same kind with padding only, without the leading axis; None for zeros.
        skip: names of fields that are left out, such as those that are computed from others.
        name: of the record within its scenario.
    """
    result = {}
    for field in vars(found):
        value, path = getattr(found, field), f"{name}.{field}" if name else field
        padding = None if unset is None else getattr(unset, field)
        if field in skip:
            continue
        if hasattr(value, "replace"):
            result |= used_fields(value, unset=padding, skip=skip, name=path)
        else:
            value = np.asarray(value)
            differs = value != (0 if padding is None else np.asarray(padding)[None])
            result[f"the field {path}"] = differs.reshape(len(value), -1).any(1)
    return result


def counts(name, number):
    """{feature: [N] bool}, one for each number from 0 on that some scenario may have."""
    return {f"{name}: {n}": number == n for n in range(int(np.max(number, initial=0)) + 1)}


def shares(features):
    """The share of scenarios that have each feature."""
    return {name: float(np.mean(has)) for name, has in features.items()}
