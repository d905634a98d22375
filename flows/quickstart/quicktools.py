"""A Python tool of the quickstart: it reads nothing and writes nothing, so it says so."""

import toolflow

toolbox = toolflow.Toolbox()


@toolbox.tool(safe=True, reads=[], writes=[])
def count_words(text: str) -> int:
    """Count the words of a text.

    Args:
        text: The text.
    """
    return len(text.split())
