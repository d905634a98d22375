"""What file systems do with names: does a folder take upper and lower case for one?

ext4 decides that for every folder, APFS and NTFS for a volume, so the only sure way is to ask for
a name that is there in other letters. The answer is kept for the life of the process: it could
only change by formatting a disk anew, or by changing the flag of an empty folder.
"""

from __future__ import annotations

import os
from functools import lru_cache
from itertools import islice

_TRIED = 16


@lru_cache(maxsize=4096)
def folds_case(folder: str) -> bool:
    """Whether two spellings of a name that differ in case are one file in this folder.

    A folder that is not there, or has no entry with letters, is judged by its own name in the
    folder above it: the property is handed down to new folders.

    Args:
        folder: An absolute path.
    """
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, _TRIED):
                if entry.name != entry.name.swapcase():
                    return _same(folder, entry.name)
    except OSError:
        pass
    above, name = os.path.split(folder)
    if not name:
        return False
    if name != name.swapcase() and os.path.lexists(folder):
        return _same(above, name)
    return folds_case(above)


def _same(folder: str, name: str) -> bool:
    try:
        own = os.lstat(os.path.join(folder, name))  # noqa: PTH118 - text in, text out
        other = os.lstat(os.path.join(folder, name.swapcase()))  # noqa: PTH118 - see above
    except OSError:
        return False
    return os.path.samestat(own, other) and not _both(folder, name)


def _both(folder: str, name: str) -> bool:
    """Whether the folder has an entry of the other spelling too: a hard link, no folding."""
    try:
        return name.swapcase() in os.listdir(folder)  # noqa: PTH208 - see above
    except OSError:
        return False
