"""What helps to write documents by hand: a schema for editors, and an example to begin with."""

import json
from pathlib import Path as FilePath
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from scenarios import environments
from scenarios.errors import ScenarioError
from scenarios.loading import SHIPPED
from scenarios.source import SCHEMA_SUFFIX

DRAFT = "http://json-schema.org/draft-07/schema#"  # which every editor knows
ORDER = ("title", "description", "type", "const", "enum", "default", "minimum")  # of keywords; others as they come
YAML = (".yaml", ".yml")


def schema(environment: str) -> dict[str, Any]:
    """The JSON Schema of an environment's documents, by which editors complete and check them.

    It knows each field for itself: what `scenarios.load` accepts fits it, and not the other way round.
    """
    document = environments.named(environment).Document
    return {"$schema": DRAFT, **document.model_json_schema(schema_generator=_EditorSchema)}


def schema_text(environment: str) -> str:
    """The JSON Schema as a file holds it."""
    return json.dumps(schema(environment), indent=2, ensure_ascii=False) + "\n"


def new(environment: str, path: str | FilePath | None = None) -> str:
    """A document to begin with, in which a comment explains every field.

    Args:
        environment: its name, such as `"lifeops"`.
        path: a file to write it to, which must not exist; the JSON Schema is written beside it.

    Returns:
        The document as YAML.

    Raises:
        ScenarioError: for an unknown environment, and where the file exists or is not named as YAML.
    """
    environments.named(environment)
    text = (SHIPPED / f"{environment}.example.yaml").read_text("utf-8")
    if path is not None:
        _write_new(FilePath(path), text)
        FilePath(path).with_name(schema_name(environment)).write_text(schema_text(environment), "utf-8")
    return text


def schema_name(environment: str) -> str:
    """What the file of a JSON Schema is called, here and in the first line of documents."""
    return environment + SCHEMA_SUFFIX


def _write_new(path: FilePath, text: str) -> None:
    """Writes a file that is not there yet, in a folder that may not be there yet."""
    if path.is_dir():
        raise ScenarioError(f"{path}: it is a folder, expected a file in it, such as {path / 'day.yaml'}.")
    if path.suffix.lower() not in YAML:
        raise ScenarioError(f"{path}: expected a name that ends in {' or '.join(YAML)}.")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise ScenarioError(f"{path}: the file exists already and is left as it is. Name another.") from None


class _EditorSchema(GenerateJsonSchema):
    """JSON Schema as a person would write it, in words of draft 7."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """The name of a field is title enough."""
        return False

    def nullable_schema(self, schema: Any) -> JsonSchemaValue:
        """`type: [integer, null]`."""
        inner = self.generate_inner(schema["schema"])
        if "type" not in inner:
            return super().nullable_schema(schema)
        choices = {"enum": [*inner["enum"], None]} if "enum" in inner else {}
        return {**inner, "type": [inner["type"], "null"], **choices}

    def tuple_schema(self, schema: Any) -> JsonSchemaValue:
        """Items that are all alike are said once."""
        found = super().tuple_schema(schema)
        first, *others = found.get("prefixItems", [None])
        if first is None or any(other != first for other in others):
            return found
        return {**{name: value for name, value in found.items() if name != "prefixItems"}, "items": first}

    def sort(self, value: JsonSchemaValue, parent_key: str | None = None) -> JsonSchemaValue:
        """What a reader wants first comes first; fields stay in the order of the record."""
        return _sorted(value)


def _sorted(value: Any, is_table: bool = False) -> Any:
    """A schema by `ORDER`; a table of schemas as it is."""
    if isinstance(value, list):
        return [_sorted(item) for item in value]
    if not isinstance(value, dict):
        return value
    keys = list(value) if is_table else sorted(value, key=lambda key: ORDER.index(key) if key in ORDER else len(ORDER))
    return {key: _sorted(value[key], not is_table and key in ("properties", "$defs")) for key in keys}
