"""Expressions: values, text, bounds, and what is refused."""

from __future__ import annotations

import warnings
from pathlib import PurePosixPath
from typing import Any

import pytest

from toolflow.policy import ExpressionError, KeyFilters, compile_expression

ARGS: dict[str, Any] = {
    "path": "a/b.txt",
    "items": [1, 2],
    "command": "status",
    "null": None,
    "deep": {"x": {"y": 1}},
    "list": ["a", "b"],
    "evil": "{{ cwd }}",
    "there": PurePosixPath("/tmp/x"),
}
NAMES: dict[str, Any] = {
    "args": ARGS,
    "tool": "t",
    "server": None,
    "cwd": "/x",
    "turn": {"id": "turn-1"},
    "_keys": KeyFilters("/x"),
}


def value(text: str) -> Any:
    return compile_expression(text)(NAMES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain { text }", "plain { text }"),
        ("", ""),
        ("{{ args.path }}", "a/b.txt"),
        ("{{ args['path'] }}", "a/b.txt"),
        ("{{args.path}}", "a/b.txt"),
        ("{{ args.items }}", [1, 2]),
        ("{{ args.null }}", None),
        ("{{ args.deep.x.y }}", 1),
        ("{{ args.deep }}", {"x": {"y": 1}}),
        ("<{{ args.path }}>", "<a/b.txt>"),
        ("{{ args.path }}{{ tool }}", "a/b.txtt"),
        ("{{ args.path }}\n", "a/b.txt\n"),
        ("{{ args.evil }}", "{{ cwd }}"),
        ("x {{ args.evil }}", "x {{ cwd }}"),
        ("{{ '{{' }} kept", "{{ kept"),
        ("{# remark #}x", "x"),
        ("{{ args.command in ['status', 'diff'] }}", True),
        ("{{ args.command in ('status', 'diff') }}", True),
        ("{{ args.command not in ['status'] }}", False),
        ("{{ args.command == 'status' and args.path != 'x' }}", True),
        ("{{ not args.command == 'x' or args.missing }}", True),
        ("{{ args.command == 'x' and args.missing }}", False),
        ("{{ args.missing is defined }}", False),
        ("{{ args.missing | default('z') }}", "z"),
        ("{{ args.null.x | default(1) }}", 1),
        ("{{ 'a' if args.items | length > 1 else 'b' }}", "a"),
        ("{{ args.path.startswith('a/') }}", True),
        ("{{ args.items | map('string') | join('-') }}", "1-2"),
        ("{{ turn.id }}", "turn-1"),
        ("{{ cwd }}/**", "/x/**"),
        ("file:{{ args.path | file_key }}", "file:/x/a/b.txt"),
        ("{{ args.path | dir_key }}", "/x/a/b.txt/**"),
        ("{{ args.list | file_key }}", ["/x/a", "/x/b"]),
        ("{{ (args.path ~ '.bak') | file_key }}", "/x/a/b.txt.bak"),
        ("{{ 'HTTPS://Example.com/x' | host_key }}", "example.com:443"),
        ("{{ args.there | file_key }}", "/tmp/x"),
        ("{{ '%s-%03d' % ('a', 7) }}", "a-007"),
        ("{{ '%s' | format(args.path) }}", "a/b.txt"),
        ("{{ 'ab' * 2 }}", "abab"),
        ("{{ 2 ** 10 }}", 1024),
        ("{{ args.path | tojson }}", '"a/b.txt"'),
        ("{{ range(3) | list }}", [0, 1, 2]),
        ("{{ range(3) | map('string') }}", ["0", "1", "2"]),
        ("{{ 'a b' | wordwrap(1) }}", "a\nb"),
    ],
)
def test_an_expression_gives(text: str, expected: object) -> None:
    found = value(text)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{ args.missing }}", "args.missing is not there"),
        ("x {{ args.missing }}", "args.missing is not there"),
        ("{{ args.null.x }}", "args.null is null, so args.null.x is not there"),
        ("{{ args.path.x }}", "args.path.x is not there"),
        ("{{ args.missing.x.y }}", "there is no 'missing' in '{{ args.missing.x.y }}'"),
        ("{{ args.null | file_key }}", "The path is null in '{{ args.null | file_key }}'"),
        ("{{ args.items | file_key }}", "The path is 1. Use text in '{{ args.items | file_key }}'"),
        ("{{ args.path + 1 }}", "can only concatenate str"),
    ],
)
def test_what_cannot_be_worked_out_is_told(text: str, said: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        value(text)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{ args. }}", "It cannot be read: expected name or number."),
        ("a\n{{ args. }}", "It cannot be read (line 2 of it): expected name or number."),
        ("{{ args.x", "It cannot be read: unexpected end of template, expected 'end of print s"),
        ("{{ arg.x }}", "The name 'arg' is not known. Use args, cwd, server, tool, turn."),
        ("{{ args.x | fil_key }}", "It cannot be read: No filter named 'fil_key'."),
        ("{{ args | random }}", "It cannot be read: No filter named 'random'."),
        (
            "{% for x in args %}{% endfor %}",
            "It holds a for statement. Use expressions {{ ... }} only; 'a if b else c' chooses.",
        ),
        ("{% include 'x' %}", "It holds a include statement."),
        ("{% set x = 1 %}", "It holds a assign statement."),
        ("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", "It cannot be read: it is too large"),
        ("{{ 1 }}" * 10_000, "It is too long. Use at most 20,000 characters."),
    ],
)
def test_what_cannot_be_compiled_is_told(text: str, said: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_expression(text)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    "text",
    [
        "{{ 'a' * 10 ** 9 }}",
        "{{ 10 ** 9 * 'a' }}",
        "{{ [1] * 10 ** 9 }}",
        "{{ 10 ** (10 ** 10) }}",
        "{{ 'x'.ljust(10 ** 9) }}",
        "{{ 'x'.zfill(999999999) }}",
        "{{ 'x' | center(999999999) }}",
        "{{ 'x' | indent(999999999) }}",
        "{{ '%999999999d' % 1 }}",
        "{{ '%*d' % (999999999, 1) }}",
        "{{ '%999999999d' | format(1) }}",
        "{{ '{:>999999999}'.format(1) }}",
        "{{ range(10 ** 9) | list }}",
        "{{ range(10001) }}",
        "{{ ('x ' * 5001) | wordwrap(1) }}",
        "{{ (1 == 1) | map('string') }}",
        "{{ args.__class__.__mro__ }}",
        "{{ args.path.__class__ }}",
        "{{ ''.__class__.__base__.__subclasses__() }}",
        "{{ args.update({'x': 1}) }}",
        "{{ args.items.append(3) }}",
        "{{ args.there.exists() }}",
        "{{ args.there.unlink() }}",
        "{{ dict.__init__ }}",
        "{{ range.__class__('x', (), {}) }}",
    ],
)
def test_an_expression_neither_reaches_out_nor_grows(text: str) -> None:
    with pytest.raises(ExpressionError):
        value(text)
    assert ARGS["items"] == [1, 2]


def test_other_names_can_be_allowed() -> None:
    expression = compile_expression("{{ results.a.b }}-{{ item }}", names={"results", "item"})
    assert expression({"results": {"a": {"b": 1}}, "item": "x"}) == "1-x"
    with pytest.raises(ExpressionError, match="Use item, results"):
        compile_expression("{{ args.x }}", names={"results", "item"})


def test_the_own_filters_work_from_the_current_folder_where_none_are_given() -> None:
    for text in ("{{ item | file_key }}", "{{ (item ~ '') | file_key }}"):
        expression = compile_expression(text, names={"item"})
        assert expression({"item": "/nowhere/../x"}) == "/x"


def test_an_expression_knows_its_kind() -> None:
    kinds = {
        text: (expression.constant, expression.single)
        for text in ("x", "{{ tool }}", "x{{ tool }}", "{{ tool }} ")
        for expression in [compile_expression(text)]
    }
    assert kinds == {
        "x": (True, False),
        "{{ tool }}": (False, True),
        "x{{ tool }}": (False, False),
        "{{ tool }} ": (False, False),
    }


@pytest.mark.parametrize(
    "text",
    [
        "{{ [args.x, 1] }}",
        "{{ {'a': args.x} }}",
        "{{ [[args.list[9]]] }}",
        "{{ [args.__class__] | list }}",
    ],
)
def test_a_value_with_something_missing_in_it_is_no_value(text: str) -> None:
    with pytest.raises(ExpressionError):
        compile_expression(text)({"args": {"list": [1]}})


def test_code_that_python_would_warn_of_is_compiled_without_a_word() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expression = compile_expression("{{ 1[2:] }}")
    with pytest.raises(ExpressionError):
        expression({})
