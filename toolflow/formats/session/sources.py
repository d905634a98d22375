"""Which agent a line of a Claude Code log belongs to.

Newer logs name the sub-agent (``agentId``), streams name the call that started it
(``parent_tool_use_id``). Older ones only mark the line as a sidechain: then the chain of
``parentUuid`` is followed to its first line, and if that line's text is the prompt of exactly one
call, the call is the source; else the sidechains are counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from toolflow.formats.session.recent import Recent

MAIN = "main"
_LOST = "sidechain"


class Sources:
    """Names the source of each line of one log. Mutable; lives in one reader only."""

    def __init__(self) -> None:
        self._chains = Recent[str]()
        self._prompts: dict[bytes, str | None] = {}  # by digest: prompts are long
        self._count = 0

    def of(self, line: Mapping[str, Any]) -> str:
        """The source of a line: ``main``, a call's id, an agent's name or ``sidechain-N``.

        Lines must be given in the order of the log, all of them.
        """
        parent = line.get("parent_tool_use_id")
        if isinstance(parent, str) and parent:
            return parent
        if line.get("isSidechain") is not True:
            return MAIN
        agent = line.get("agentId")
        name = agent if isinstance(agent, str) and agent else self._of_chain(line)
        uuid = line.get("uuid")
        if isinstance(uuid, str):
            self._chains.remember(uuid, name)
        return name

    def _of_chain(self, line: Mapping[str, Any]) -> str:
        parent = line.get("parentUuid")
        if isinstance(parent, str):
            return self._chains.get(parent, _LOST)  # its parent could not be read, or is elsewhere
        caller = self._prompts.get(_digest(_text(line.get("message"))))
        if caller is not None:
            return caller
        self._count += 1
        return f"sidechain-{self._count}"

    def remember_call(self, block: Mapping[str, Any]) -> None:
        """Note the prompt that a call gives to a sub-agent. A prompt given twice tells nothing."""
        given, call_id = block.get("input"), block.get("id")
        prompt = given.get("prompt") if isinstance(given, dict) else None
        if isinstance(prompt, str) and prompt and isinstance(call_id, str):
            key = _digest(prompt)
            if self._prompts.setdefault(key, call_id) != call_id:
                self._prompts[key] = None


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _text(message: Any) -> str:
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        content = content[0].get("text")
    return content if isinstance(content, str) else ""
