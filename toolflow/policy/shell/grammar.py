"""From the text of a command line to its shape, with the Bash grammar of tree-sitter.

The grammar is an extra of the package, ``toolflow[shell]``, and is loaded with the first line. It
mends what it cannot read, and takes some spellings for others than Bash does: a line that needs
mending is not understood, and neither is one that Bash may read in another way (see
`toolflow.policy.shell.walk`).

What the grammar is given is bounded, for its time grows with the square of the number of
operators in broken lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from toolflow.errors import UsageError
from toolflow.policy.shell.lexer import NotFollowedError, Token, tokens_of
from toolflow.policy.shell.tree import Block
from toolflow.policy.shell.walk import MAX_DEPTH, Walk

if TYPE_CHECKING:
    from tree_sitter import Parser

MAX_LENGTH: Final = 10_000  # characters
MAX_OPERATORS: Final = 200
MAX_WORDS: Final = 2_000
MISSING: Final = (
    "shell_effects needs a Bash grammar, which is not installed. "
    "Install it with: pip install 'toolflow[shell]'."
)


@lru_cache(maxsize=1)
def _parser() -> Callable[[], Parser]:
    try:
        import tree_sitter  # noqa: PLC0415 - an extra, loaded with the first line
        import tree_sitter_bash  # noqa: PLC0415 - the same
    except ImportError as error:
        raise UsageError(MISSING) from error
    language = tree_sitter.Language(tree_sitter_bash.language())
    return lambda: tree_sitter.Parser(language)


def require_grammar() -> None:
    """Make sure that the grammar is there.

    Raises:
        UsageError: If it is not installed, with what to install.
    """
    _parser()


def line_of(text: str) -> Block:
    """Read a command line.

    Args:
        text: The line.

    Returns:
        Its shape.

    Raises:
        NotFollowedError: If it is not understood, with a clause that says what and where.
        UsageError: If the grammar is not installed.
    """
    make = _parser()
    _check_text(text)
    tokens = tokens_of(text)
    _check_tokens(tokens)
    root = make().parse(text.encode()).root_node
    if root.has_error:
        raise NotFollowedError("the line is no complete command of Bash")
    return Walk(text, tokens).whole(root)


def _check_text(text: str) -> None:
    if len(text) > MAX_LENGTH:
        raise NotFollowedError(f"the line is longer than {MAX_LENGTH:,} characters")
    for sign in text:
        if not sign.isprintable() and sign not in "\t\n":
            raise NotFollowedError(f"the line holds the character {sign!r}")


def _check_tokens(tokens: Sequence[Token]) -> None:
    operators = [token.text for token in tokens if token.kind == "operator" and token.text != "\n"]
    if len(operators) > MAX_OPERATORS:
        raise NotFollowedError(f"the line has more than {MAX_OPERATORS} operators")
    if len(tokens) > MAX_WORDS:
        raise NotFollowedError(f"the line has more than {MAX_WORDS:,} words")
    depth = 0
    for operator in operators:
        depth += (operator == "(") - (operator == ")")
        if depth > MAX_DEPTH:
            raise NotFollowedError("the line is nested too deep")
        if depth < 0:
            raise NotFollowedError("a ')' in the line closes nothing")
