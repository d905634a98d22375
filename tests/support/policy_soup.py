"""Policies and expressions as nobody would write them, the same ones for the same number."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

from toolflow.policy.shelf import shipped_names, shipped_text

LARGE = """\
version: 1
extends: shipped:git
limits: {pool: 4, resources: {cpu: 1}, tools: {"g*": 2}, servers: {s: 1}}
defaults: {timeout: 2m, on_error: continue}
redact: [password, "*_token"]
trust: {annotations: [s]}
paths: {case: auto, unicode: nfc, inode: true}
rules:
  - {tool: [a, "b*"], aliases: [], when: "{{ args.x in ['1', 'a'] }}", safe: true}
  - {tool: c, safe: "{{ args.x | length > 3 }}", reads: ["f:{{ args.p | file_key }}", "k"]}
  - {tool: d, ask: "Really {{ args.x }}?", show: "d {{ args }}", timeout: 500ms, hold: turn}
  - &r {server: s, deny: "No, {{ tool }} of {{ server }}.", uses: {cpu: 1}}
  - {<<: *r, stop: before}
cases:
  - turn: [{tool: a, args: {x: "1"}}]
    expect: [{verdict: safe, rule: 1}]
"""
PIECES = (
    "version: 1\n", "version: 2", "rules:", "- {tool: '*'}", "&a", "*a", "<<: *a",
    "!!python/object:os.system",
    "!!python/object/apply:os.system [touch x]", "!x y", "{", "}", "[", "]", "[[[[[[[[", "? ",
    ": ", "- ", "|\n", ">-\n",
    "\t", "\0", "\x1b[2J", "\ufeff", "\u2028", "\ud800", "é", "😀", "---\n", "...\n",
    "%YAML 1.1\n", "# ", "null", "~",
    "yes", "1e999", "0x1F", "9" * 5000, "{{", "}}", "{%", "%}", "{#", "'", '"', "\\",
    "extends: /etc/passwd\n",
    "extends: [../../x, shipped:no]\n", "bases: {a: 'version: 1'}\n", "when: '{{ 1/0 }}'",
    "safe: true", "timeout: 0s",
    "a" * 3000, "x: " * 200, "- " * 150, "{a: " * 120,
)  # fmt: skip
ATOMS = (
    "args", "args.x", "args.p", "args.trap", "args.trap.go()", "args['x']", "args.deep.a.b",
    "args.items()", "tool",
    "server", "cwd", "turn", "turn.id", "true", "none", "1", "0", "-1", "9999999999", "'a'",
    "''", "[1, 2]", "{'a': 1}",
    "range(5)", "range(10**9)", "dict(a=1)", "self", "loop", "cycler", "lipsum", "namespace",
    "joiner", "shell_effects(args.x)",
    "''.__class__", "''.__class__.__mro__[1].__subclasses__()", "args.__class__",
    "args.x.__init__.__globals__", "args|attr('__class__')",
    "'{0.__class__}'.format(args)", "'%s'|format(args)", "'%99999d' % 1", "'a' * 999999999",
    "9 ** 9 ** 9", "[0] * 9 ** 9",
    "'a'.join(range(9999)|map('string'))", "args.x|tojson", "args.x|safe", "x",
    "open('/etc/passwd')", "args.list.append(1)",
    "args.update({'a': 1})", "'abc'.zfill(10**9)", "'a'.ljust(10**9)", "'a'.encode()",
    "args.x.split('').pop()", "1/0",
)  # fmt: skip
OPERATORS = (
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "~",
    "==",
    "!=",
    "<",
    ">",
    "in",
    "not in",
    "and",
    "or",
    "is",
    "|",
)
FILTERS = (
    "length", "int", "float", "string", "list", "sort", "reverse", "first", "last", "join(',')",
    "default('x')", "upper",
    "replace('a', 'b' * 99999)", "file_key", "dir_key", "host_key", "expand_home", "map('int')",
    "select", "groupby('x')",
    "batch(10**9)", "center(10**9)", "indent(10**9)", "wordwrap(1)", "urlize", "xmlattr",
    "pprint", "sum", "random",
    "attr('__class__')", "map(attribute='__class__')", "filesizeformat", "truncate(3)",
    "striptags", "slice(10**9)", "unique",
)  # fmt: skip


def seeds() -> list[str]:
    """Policies to spoil: one with everything, and the shipped ones."""
    return [LARGE, *(shipped_text(name) for name in shipped_names())]


def spoiled_policy(sources: list[str], number: int) -> str:
    """A policy that was changed in a few places."""
    luck = random.Random(number)
    text = luck.choice(sources) if luck.random() < 0.7 else LARGE
    for _ in range(luck.randint(1, 6)):
        text = luck.choice(_CHANGES)(text, luck)
    return text[:200_000]


def odd_expression(number: int) -> str:
    """An expression of odd parts."""
    luck = random.Random(number)

    def made(depth: int) -> str:
        if depth <= 0 or luck.random() < 0.25:
            return luck.choice(ATOMS)
        kind = luck.randrange(7)
        if kind == 0:
            return f"({made(depth - 1)} {luck.choice(OPERATORS)} {made(depth - 1)})"
        if kind == 1:
            return f"{made(depth - 1)} | {luck.choice(FILTERS)}"
        if kind == 2:
            return (
                f"{made(depth - 1)}.{luck.choice(['a', 'items', '__class__', 'get', 'x', '_keys'])}"
            )
        if kind == 3:
            return f"{made(depth - 1)}[{made(depth - 1)}]"
        if kind == 4:
            return f"({made(depth - 1)} if {made(depth - 1)} else {made(depth - 1)})"
        if kind == 5:
            return f"not {made(depth - 1)}"
        return f"[{made(depth - 1)}, {made(depth - 1)}]"

    text = made(luck.randint(1, 5))
    if luck.random() < 0.1:
        text = _spliced(text, luck)
    return text if luck.random() < 0.05 else f"{{{{ {text} }}}}"


def policy_of(expression: str, number: int) -> str:
    """A policy whose rules hold an expression in every place that takes one."""
    field = ("when", "safe", "reads", "writes", "ask", "deny", "show")[number % 7]
    rule = {"tool": "t", field: expression if number % 3 else f"k:{expression}"}
    return json.dumps({"version": 1, "redact": ["password"], "rules": [rule, {"tool": "t"}]})


def _spliced(text: str, luck: random.Random) -> str:
    at = luck.randrange(len(text) + 1)
    return text[:at] + luck.choice(PIECES) + text[at:]


def _cut(text: str, luck: random.Random) -> str:
    at = luck.randrange(len(text) + 1)
    return text[:at] + text[at + luck.randint(1, 40) :]


def _lines(text: str, luck: random.Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    at, to = luck.randrange(len(lines)), luck.randrange(len(lines))
    lines.insert(to, lines[at])
    return "".join(lines)


def _word(text: str, luck: random.Random) -> str:
    words = text.split(" ")
    words[luck.randrange(len(words))] = luck.choice([*PIECES, *ATOMS])
    return " ".join(words)


def _template(text: str, luck: random.Random) -> str:
    begin = text.find("{{", luck.randrange(len(text) + 1))
    end = text.find("}}", begin)
    if begin < 0 or end < 0:
        return _spliced(text, luck)
    return text[:begin] + odd_expression(luck.randrange(10**9)) + text[end + 2 :]


_CHANGES: tuple[Callable[[str, random.Random], str], ...] = (
    _spliced,
    _cut,
    _lines,
    _word,
    _template,
)
