"""Files that are replaced in one step, so that nobody ever sees half of one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

from toolflow.errors import Problem, RecordingError


@contextmanager
def told(path: str | Path) -> Iterator[None]:
    """Map the errors of the file system to ours: one line, with the path.

    Raises:
        RecordingError: In place of them.
    """
    try:
        yield
    except (OSError, ValueError) as error:
        said = (getattr(error, "strerror", None) or str(error)).lower()
        raise RecordingError(Problem(f"The file cannot be written: {said}.", str(path))) from error


@contextmanager
def replacing(target: Path) -> Iterator[IO[str]]:
    """A new file, which takes the place of the target at the end, and only then."""
    with NamedTemporaryFile(
        "w", encoding="utf-8", newline="\n", dir=target.parent, prefix=".", delete=False
    ) as file:
        made = Path(file.name)
        try:
            yield file
            file.close()
            made.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o644)
            made.replace(target)
        except BaseException:
            with suppress(OSError):
                made.unlink()
            raise


def write_text(path: str | Path, text: str) -> None:
    """Write a file as a whole, or not at all.

    Raises:
        RecordingError: If it cannot be written.
    """
    with told(path), replacing(Path(path)) as file:
        file.write(text)
