"""YAML and JSON: the only reader and writer of such text. Safe, with places, in stable order."""

from toolflow.yamlio.document import Document
from toolflow.yamlio.dump import dump, dump_item
from toolflow.yamlio.items import Listed, Whole, open_list
from toolflow.yamlio.load import MAX_BYTES, load, load_file, of_value
from toolflow.yamlio.validate import path_text, show, validate

__all__ = [
    "MAX_BYTES",
    "Document",
    "Listed",
    "Whole",
    "dump",
    "dump_item",
    "load",
    "load_file",
    "of_value",
    "open_list",
    "path_text",
    "show",
    "validate",
]
