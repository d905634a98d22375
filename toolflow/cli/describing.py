"""``toolflow schema``: the JSON Schema of a YAML format, for editors."""

from __future__ import annotations

import typer

from toolflow.schemas import schema_text


def schema(
    kind: str = typer.Argument(..., metavar="KIND", help="policy, flow, plan or recording."),
) -> int:
    """Write the JSON Schema of a YAML format.

    An editor with the YAML language server checks a file that begins with the line
    `# yaml-language-server: $schema=FILE` against the schema in FILE.
    """
    typer.echo(schema_text(kind), nl=False)
    return 0
