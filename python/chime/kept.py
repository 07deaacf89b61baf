"""What compilers have made of texts: kept in files, until something changes that it was made of."""

from __future__ import annotations

import fcntl
import functools
import hashlib
import json
import os
import pathlib
import re
import tempfile
import time
from typing import Callable, List, Optional, Sequence, Tuple

from .errors import SystemRefusedError

Make = Callable[[pathlib.Path], Tuple[pathlib.Path, Sequence[str]]]


def kept(key: str, suffix: str, make: Make) -> pathlib.Path:
    """A result: from the cache, or made by the one of several PEs that comes first.

      key     names the text and the options
      suffix  of the result's file
      make    makes the result in a scratch folder, and names the files that went into it beside the text
    """
    stem = _cache() / key
    if result := _found(stem, suffix):
        return result
    lock = stem.with_suffix(".lock")
    try:
        with lock.open("w") as held, tempfile.TemporaryDirectory(dir=stem.parent) as scratch:
            fcntl.flock(held, fcntl.LOCK_EX)
            result = _found(stem, suffix) or _made(stem, suffix, make, pathlib.Path(scratch))
            lock.unlink(missing_ok=True)
    except OSError as error:
        raise SystemRefusedError(f"the compiled kernel cannot be kept in {stem.parent}: {error}. XDG_CACHE_HOME names another place") from None
    return result


def listed(rule: pathlib.Path, source: pathlib.Path) -> List[str]:
    """The files of a rule for make but the source, as compilers write it by -MD; none if this one has not.

      rule    the file with the rule
      source  what was compiled
    """
    if not rule.exists():
        return []
    words = re.findall(r"(?:\\[ #]|\\(?=\S)|[^\s\\])+", rule.read_text().partition(":")[2].replace("\\\n", " "))
    names = [word.replace("\\ ", " ").replace("\\#", "#").replace("$$", "$") for word in words]
    return [name for name in names if name != str(source)]


def _cache() -> pathlib.Path:
    folder = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "chime" / "kernels"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SystemRefusedError(f"compiled kernels are kept in {folder}, which cannot be made: {error.strerror}. XDG_CACHE_HOME names another place") from None
    return folder


@functools.lru_cache(maxsize=None)
def _content(file: str, changed_ns: int, size: int) -> bytes:
    return hashlib.sha256(pathlib.Path(file).read_bytes()).digest()


def _contents(files: Sequence[str]) -> str:
    """Differs when one of the files does."""
    all_of_them = hashlib.sha256()
    for file in files:
        try:
            facts = os.stat(file)
            all_of_them.update(_content(os.path.abspath(file), facts.st_mtime_ns, facts.st_size))
        except OSError:
            all_of_them.update(b"missing")
    return all_of_them.hexdigest()[:16]


# Beside a result lies the list of the files that it was made of, and its name has their contents: a header that is edited leads to another result, of
# which a process may load both.
def _result(stem: pathlib.Path, suffix: str, contents: str) -> pathlib.Path:
    return stem.with_name(f"{stem.name}-{contents}{suffix}")


def _found(stem: pathlib.Path, suffix: str) -> Optional[pathlib.Path]:
    try:
        files = json.loads(stem.with_suffix(".files").read_text())
    except FileNotFoundError:
        return None
    result = _result(stem, suffix, _contents(files))
    return result if result.exists() else None


def _made(stem: pathlib.Path, suffix: str, make: Make, scratch: pathlib.Path) -> pathlib.Path:
    before = None
    while True:
        began_ns = time.time_ns()
        result, files = make(scratch)
        contents = _contents(files)
        # The compiler may have read a file before it was edited: it compiles again, unless it began with these contents.
        if contents == before or not any(os.path.exists(file) and os.stat(file).st_mtime_ns >= began_ns for file in files):
            break
        before = contents
    names = scratch / "files"
    names.write_text(json.dumps(list(files)))
    names.replace(stem.with_suffix(".files"))
    return result.replace(_result(stem, suffix, contents))
