"""What the tools of a server are called by the model.

By default a tool is called ``SERVER__TOOL``. A name that begins with its server cannot be taken by
another server, nor by one that changes its tools while a run goes on; and rules, plans and
recordings say whom a call goes to. Providers take letters, digits, ``_`` and ``-`` only, and at
most 64 of them, so other signs become ``_``, and what is too long is cut.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable

LONGEST = 64
_OTHER = re.compile(r"[^A-Za-z0-9_-]")
_MARK = 7  # characters that tell two names apart which would become one


def model_names(prefix: str, tools: Iterable[str]) -> dict[str, str]:
    """Work out the names of a server's tools, each by itself where that can be.

    Args:
        prefix: What stands before them.
        tools: The server's own names.

    Returns:
        The name for the model by the server's own. No two are the same: of names that would
        become one, those that had to be changed end in a mark made of the server's own name.
    """
    plain = {tool: _OTHER.sub("_", prefix + tool) for tool in tools}
    holders = Counter(plain.values())
    return {
        tool: name
        if len(name) <= LONGEST and (holders[name] == 1 or name == prefix + tool)
        else _marked(name, tool)
        for tool, name in plain.items()
    }


def _marked(name: str, tool: str) -> str:
    mark = hashlib.sha256(tool.encode("utf-8", "replace")).hexdigest()[: _MARK - 1]
    return f"{name[: LONGEST - _MARK]}_{mark}"
