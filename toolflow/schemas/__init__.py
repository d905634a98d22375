"""JSON Schemas of every YAML format, for editors and other programs (spec 4.6).

They are made from the models that the loaders check with, so that both say yes to the same files;
what no JSON Schema can tell is listed in the reference. The schemas are also in this package as
files, which a line ``# yaml-language-server: $schema=...`` can name.
"""

from toolflow.schemas.make import KINDS, Kind, json_schema, schema_text

__all__ = ["KINDS", "Kind", "json_schema", "schema_text"]
