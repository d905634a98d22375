"""One spelling for a real path, where file systems take several for one."""

from __future__ import annotations

import sys
import unicodedata
from typing import Final

from toolflow.policy.filesystem import folds_case
from toolflow.policy.pathoptions import PathOptions

_COMPOSES: Final = sys.platform == "darwin"  # its file systems take all forms of an accent for one


class Speller:
    """Spells paths in one way, and remembers folders that it has spelled.

    Each part of a path is folded on its own, so that the spelling of a folder is the beginning
    of the spelling of whatever is in it.

    Args:
        options: What is one and what is not.
    """

    __slots__ = ("_known", "_options")

    def __init__(self, options: PathOptions) -> None:
        self._options = options
        self._known: dict[str, str] = {"": ""}

    def spell(self, real: str) -> str:
        """The one spelling of a path.

        Args:
            real: A real path with ``/`` between its parts.
        """
        folder, slash, name = real.rpartition("/")
        known = self._known.get(folder)
        if known is None:
            known = self._folder(folder)
        return f"{known}{slash}{self._name(name, folder)}"

    def spell_remote(self, key: str) -> str:
        """The one spelling of a path on another machine: only what the options say for certain.

        Args:
            key: What `remote_key` gives.
        """
        if self._options.case == "fold":
            key = key.casefold()
        return unicodedata.normalize("NFC", key) if self._options.unicode != "keep" else key

    def _folder(self, folder: str) -> str:
        spelled, place = "", ""
        for number, part in enumerate(folder.split("/")):
            above, place = place, f"{place}/{part}" if number else part
            known = self._known.get(place)
            if known is None:
                name = self._name(part, above) if part else ""
                known = self._known[place] = f"{spelled}/{name}" if number else name
            spelled = known
        return spelled

    def _name(self, name: str, folder: str) -> str:
        case, unicode = self._options.case, self._options.unicode
        folds = case == "fold" or (case == "auto" and folds_case(folder or "/"))
        if folds:
            name = name.casefold()
        # What folds case takes all forms of an accent for one as well; NTFS is an exception,
        # where two files then share a key, which does no harm.
        if unicode == "nfc" or (unicode == "auto" and (folds or _COMPOSES)):
            return unicodedata.normalize("NFC", name)
        return name
