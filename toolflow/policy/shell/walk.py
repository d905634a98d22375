"""From the tree of the grammar to the shape of a line, with the tokens of the lexer in hand.

Each word and operator of the tree has to be the next token, exactly, and line feeds may stand only
where Bash takes them for a separator. So the two readers check each other: what one of them takes
for something else than Bash does is seen by the other, and the line is not understood.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from toolflow.policy.expressions import shorten
from toolflow.policy.shell.lexer import NotFollowedError, Token, Word
from toolflow.policy.shell.options import names_of
from toolflow.policy.shell.tree import Block, Chain, Command, Line, Not, Pipe, Redirect

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH: Final = 40
_STATEMENTS: Final = {
    "for_statement": "the loop",
    "c_style_for_statement": "the loop",
    "while_statement": "the loop",
    "if_statement": "the condition",
    "case_statement": "the choice",
    "function_definition": "the function",
    "declaration_command": "the declaration",
    "unset_command": "the command",
}
_WORDS: Final = names_of(
    "word number string raw_string ansi_c_string concatenation simple_expansion expansion "
    "command_name brace_expression"
)
_REDIRECTS: Final = names_of("file_redirect herestring_redirect")


class Walk:
    """Goes through the tree and the tokens at once; ``at`` is the next token."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self.tokens, self.at = tokens, 0
        self._text = text
        self._spans = _byte_spans(text, tokens)

    def whole(self, root: Node) -> Block:
        """The shape of the whole line.

        Args:
            root: The tree of the line.

        Raises:
            NotFollowedError: If it is not understood.
        """
        block = self.block(root, 0)
        if self.at != len(self.tokens):
            raise self.two_ways()
        return block

    def two_ways(self) -> NotFollowedError:
        """What is said where the two readers differ."""
        index = min(self.at, len(self.tokens) - 1)
        near = shorten(self.tokens[index].text) if self.tokens else "its end"
        return NotFollowedError(f"the line can be read in two ways near {near}")

    def block(self, node: Node, depth: int) -> Block:
        """Statements of the whole line, of ``( ... )`` or of ``{ ...; }``."""
        if depth > MAX_DEPTH:
            raise NotFollowedError("the line is nested too deep")
        parts: list[tuple[Line, str]] = []
        separated = True
        inside = False
        for child in node.children:
            separated = self._feeds() or separated
            if child.type in ("(", ")", "{", "}"):
                self._take(child)
                inside, separated = True, True
            elif child.type in (";", "&"):
                self._take(child)
                if separated:  # Bash takes no sign after another one, or after a line feed
                    raise self.two_ways()
                parts[-1] = (parts[-1][0], child.type)
                separated = True
            elif child.type != "comment":
                if not separated:
                    raise self.two_ways()
                parts.append((self.line(child, depth + 1), ""))
                separated = False
        if not inside:
            self._feeds()
        return Block(tuple(parts), apart=node.type == "subshell")

    def line(self, node: Node, depth: int) -> Line:
        """One statement."""
        if depth > MAX_DEPTH:
            raise NotFollowedError("the line is nested too deep")
        kind = node.type
        if kind in ("command", "variable_assignment", "variable_assignments", "test_command"):
            return self._command(node)
        if kind == "redirected_statement":
            return self._redirected(node, depth)
        if kind == "pipeline":
            return self._pipe(node, depth)
        if kind == "list":
            return self._chain(node, depth)
        if kind == "negated_command":
            sign, body = self._parts(node, 2)
            self._take(sign)
            return Not(self.line(body, depth + 1))
        if kind in ("subshell", "compound_statement"):
            return self.block(node, depth + 1)
        said = f"{_STATEMENTS.get(kind, 'the part')} {self._said(node)} is not followed"
        raise NotFollowedError(said)

    def _command(self, node: Node) -> Command:
        words: list[Word] = []
        assignments: list[Word] = []
        redirects: list[Redirect] = []
        for child in [node] if node.type == "variable_assignment" else node.children:
            if child.type == "variable_assignment":
                assignments.append(self._word(child))
            elif child.type in _REDIRECTS:
                redirects.append(self._redirect(child, words))
            elif node.type == "test_command" and child.type not in _WORDS:
                words += self._test(child)
            elif child.type in _WORDS:
                words.append(self._word(child))
            else:
                raise NotFollowedError(f"the part {self._said(child)} is not followed")
        if assignments and words and node.type != "command":
            raise self.two_ways()
        return Command(tuple(words), tuple(assignments), tuple(redirects))

    def _test(self, node: Node) -> list[Word]:
        """The words between ``[`` and ``]``; the grammar makes a tree of them."""
        if node.type in ("[", "]", "[[", "]]") or node.end_byte <= node.start_byte:
            return [self._word(node)]
        words = []
        while self.at < len(self.tokens) and self._spans[self.at][0] < node.end_byte:
            token = self.tokens[self.at]
            if token.word is None or self._spans[self.at][1] > node.end_byte:
                raise NotFollowedError(f"the test {self._said(node)} is not followed")
            words.append(token.word)
            self.at += 1
        return words

    def _redirected(self, node: Node, depth: int) -> Line:
        """A statement with redirections; words after a redirection belong to its command."""
        first, *rest = _children(node)
        if first.type in _REDIRECTS:
            more: list[Word] = []
            made = [self._redirect(child, more) for child in (first, *rest)]
            return Command(tuple(more), (), tuple(made))
        body = self.line(first, depth + 1)
        words: list[Word] = []
        for child in rest:
            if child.type not in _REDIRECTS:
                if child.type == "heredoc_redirect":
                    raise NotFollowedError("the here-document is not followed")
                raise self.two_ways()
        redirects = tuple(self._redirect(child, words) for child in rest)
        return self._redirect_last(body, redirects, tuple(words))

    def _redirect_last(
        self, body: Line, redirects: tuple[Redirect, ...], words: tuple[Word, ...]
    ) -> Line:
        """In ``a && b > c`` the redirection is of ``b``; the grammar hangs it on the whole."""
        if isinstance(body, Command):
            given = (*body.redirects, *redirects)
            return Command((*body.words, *words), body.assignments, given)
        if isinstance(body, Chain):
            *before, (operator, last) = body.rest
            changed = (operator, self._redirect_last(last, redirects, words))
            return Chain(body.first, (*before, changed))
        if isinstance(body, Pipe):
            *parts, last = body.parts
            return Pipe((*parts, self._redirect_last(last, redirects, words)))
        if isinstance(body, Not):
            return Not(self._redirect_last(body.body, redirects, words))
        if words:
            raise self.two_ways()
        return Block(body.parts, body.apart, (*body.redirects, *redirects))

    def _redirect(self, node: Node, words: list[Word]) -> Redirect:
        number, operator = "", ""
        targets: list[Word] = []
        for child in node.children:
            if child.type == "file_descriptor":
                number = self._take(child).text
            elif child.type in (">&-", "<&-"):
                operator = child.type[:2]
                targets.append(self._closing(child))
            elif not child.is_named:
                operator = self._take(child).text
            else:
                targets.append(self._word(child))
        if not targets:
            raise self.two_ways()
        words += targets[1:]
        return Redirect(number, operator, targets[0])

    def _closing(self, node: Node) -> Word:
        """``>&-`` is one piece of the grammar, and an operator and a word of the lexer."""
        spans = self._spans[self.at : self.at + 2]
        both = [(node.start_byte, node.end_byte - 1), (node.end_byte - 1, node.end_byte)]
        if list(spans) != both:
            raise self.two_ways()
        self.at += 2
        word = self.tokens[self.at - 1].word
        assert word is not None
        return word

    def _pipe(self, node: Node, depth: int) -> Pipe:
        parts = []
        for child in _children(node):
            if child.type in ("|", "|&"):
                self._take(child)
                self._feeds()
            else:
                parts.append(self.line(child, depth + 1))
        return Pipe(tuple(parts))

    def _chain(self, node: Node, depth: int) -> Chain:
        """``a && b || c`` leans to the left in the tree; it is laid flat here."""
        joined: list[tuple[Node, Node]] = []
        while node.type == "list":
            left, operator, right = self._parts(node, 3)
            joined.append((operator, right))
            node = left
        first = self.line(node, depth + 1)
        rest = []
        for operator, right in reversed(joined):
            self._take(operator)
            self._feeds()
            rest.append((operator.type, self.line(right, depth + 1)))
        return Chain(first, tuple(rest))

    def _parts(self, node: Node, count: int) -> list[Node]:
        """The children of a node that has to have so many."""
        parts = _children(node)
        if len(parts) != count:
            raise self.two_ways()
        return parts

    def _word(self, node: Node) -> Word:
        word = self._take(node).word
        if word is None:
            raise self.two_ways()
        return word

    def _take(self, node: Node) -> Token:
        """The next token, which has to be this node exactly."""
        span = (node.start_byte, node.end_byte)
        if self.at >= len(self.tokens) or self._spans[self.at] != span:
            raise self.two_ways()
        self.at += 1
        return self.tokens[self.at - 1]

    def _feeds(self) -> bool:
        """Pass over line feeds; whether there were any."""
        before = self.at
        while self.at < len(self.tokens) and self.tokens[self.at].text == "\n":
            self.at += 1
        return self.at > before

    def _said(self, node: Node) -> str:
        text = self._text.encode()[node.start_byte : node.end_byte].decode()
        return shorten(text[:60])


def _children(node: Node) -> list[Node]:
    """The children of a node without remarks, which have no tokens."""
    return [child for child in node.children if child.type != "comment"]


def _byte_spans(text: str, tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Where tokens begin and end in bytes, as the grammar counts."""
    if text.isascii():
        return [(token.start, token.end) for token in tokens]
    spans = []
    place = done = 0
    for token in tokens:
        start = place + len(text[done : token.start].encode())
        place = start + len(text[token.start : token.end].encode())
        done = token.end
        spans.append((start, place))
    return spans
