"""How file keys are normalised: the policy's ``paths`` (spec 4.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Case = Literal["auto", "fold", "keep"]
Unicode = Literal["auto", "nfc", "keep"]


@dataclass(frozen=True, slots=True)
class PathOptions:
    """How file keys are normalised: the policy's ``paths``.

    Attributes:
        case: ``auto`` folds case where the file system does, ``fold`` everywhere, ``keep``
            nowhere.
        unicode: ``auto`` uses the composed form (NFC) where the file system takes all forms for
            one, ``nfc`` everywhere, ``keep`` nowhere.
        inode: Also take the identity of existing files, so that hard links meet.
    """

    case: Case = "auto"
    unicode: Unicode = "auto"
    inode: bool = False


DEFAULT_PATHS: Final = PathOptions()
