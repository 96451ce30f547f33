"""`python -m lab library`: the files that jaxenv ships beside the text of each library."""

import argparse
from collections.abc import Sequence

from scenarios import authoring
from scenarios.libraries import SHIPPED
from scenarios.loading import ENVIRONMENTS, load


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the arrays and the JSON Schema of each library; a user's scenarios are compiled when they are loaded."""
    argparse.ArgumentParser("python -m lab library", description=__doc__).parse_args(argv)
    for name, format in ENVIRONMENTS.items():
        library = load(name)
        arrays = format.environment.library
        library.bank.save(arrays)
        print(f"{arrays}: {len(library)} scenarios, {library.bank.fingerprint()}")
        file = SHIPPED / authoring.schema_name(name)
        file.write_text(authoring.schema_text(name), "utf-8")
        print(file)
    return 0
