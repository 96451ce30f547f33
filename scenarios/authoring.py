"""Help with writing documents by hand: a schema for editors, and an example to start from."""

import json
from pathlib import Path as FilePath
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from scenarios.libraries import SHIPPED
from scenarios.loading import format_of
from scenarios.text.errors import ScenarioError
from scenarios.text.source import SCHEMA_SUFFIX

DRAFT = "http://json-schema.org/draft-07/schema#"  # the one that every editor supports
ORDER = ("title", "description", "type", "const", "enum", "default", "minimum")  # of keywords; others keep theirs
YAML = (".yaml", ".yml")


def schema(environment: str) -> dict[str, Any]:
    """The JSON Schema of an environment's documents, with which editors complete and check them.

    >>> import scenarios
    >>> scenarios.schema("lifeops")["properties"]["max_steps"]["minimum"]
    1

    It checks each field on its own: whatever `scenarios.load` accepts fits it, but not the other way round.
    """
    document = format_of(environment).document
    return {"$schema": DRAFT, **document.model_json_schema(schema_generator=_EditorSchema)}


def schema_text(environment: str) -> str:
    """The JSON Schema as a file holds it."""
    return json.dumps(schema(environment), indent=2, ensure_ascii=False) + "\n"


def new(environment: str, path: str | FilePath | None = None) -> str:
    """A document to start from, in which a comment explains every field.

    >>> import scenarios
    >>> print(scenarios.new("lifeops").splitlines()[0])
    # yaml-language-server: $schema=lifeops.schema.json

    Args:
        environment: its name, such as `"lifeops"`.
        path: a file to write it to, which must not exist; the JSON Schema is written beside it.

    Returns:
        The document as YAML.

    Raises:
        ScenarioError: for an unknown environment, and where the file exists or has no YAML suffix.
    """
    format_of(environment)
    text = (SHIPPED / f"{environment}.example.yaml").read_text("utf-8")
    if path is not None:
        _write_new(FilePath(path), text)
        FilePath(path).with_name(schema_name(environment)).write_text(schema_text(environment), "utf-8")
    return text


def schema_name(environment: str) -> str:
    """The file name of a JSON Schema, here and in the first line of documents."""
    return environment + SCHEMA_SUFFIX


def _write_new(path: FilePath, text: str) -> None:
    """Writes a new file, in a folder that may be new too."""
    if path.is_dir():
        raise ScenarioError(f"{path}: a folder, expected a file in it, such as {path / 'day.yaml'}.")
    if path.suffix.lower() not in YAML:
        raise ScenarioError(f"{path}: expected a name that ends in {' or '.join(YAML)}.")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise ScenarioError(f"{path}: the file already exists and is left unchanged. Choose another name.") from None


class _EditorSchema(GenerateJsonSchema):
    """JSON Schema as a person would write it, in words of draft 7."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """The name of a field is title enough."""
        return False

    def nullable_schema(self, schema: Any) -> JsonSchemaValue:
        """`type: [integer, null]`, also where there are several types already."""
        inner = self.generate_inner(schema["schema"])
        if "type" not in inner:
            return super().nullable_schema(schema)
        choices = {"enum": [*inner["enum"], None]} if "enum" in inner else {}
        types = inner["type"] if isinstance(inner["type"], list) else [inner["type"]]
        return {**inner, "type": [*types, "null"], **choices}

    def tuple_schema(self, schema: Any) -> JsonSchemaValue:
        """Items that are all alike are described once."""
        found = super().tuple_schema(schema)
        first, *others = found.get("prefixItems", [None])
        if first is None or any(other != first for other in others):
            return found
        return {**{name: value for name, value in found.items() if name != "prefixItems"}, "items": first}

    def sort(self, value: JsonSchemaValue, parent_key: str | None = None) -> JsonSchemaValue:
        """Keywords by `ORDER`; fields stay in the order of the record."""
        return _sorted(value)


def _sorted(value: Any, is_table: bool = False) -> Any:
    """A schema by `ORDER`, with each description on one line; a table of schemas keeps its order."""
    if isinstance(value, list):
        return [_sorted(item) for item in value]
    if isinstance(value, str):
        return value.replace("\n", " ")  # of a description
    if not isinstance(value, dict):
        return value
    keys = list(value) if is_table else sorted(value, key=lambda key: ORDER.index(key) if key in ORDER else len(ORDER))
    return {key: _sorted(value[key], not is_table and key in ("properties", "$defs")) for key in keys}
