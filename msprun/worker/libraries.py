"""Shared libraries that two operator folders have brought into this process."""

import hashlib

MAPS = "/proc/self/maps"
PART = 1 << 20


def mapped_below(folder, maps=MAPS):
    """Files below a folder that are mapped as code, sorted."""
    try:
        with open(maps) as lines:
            fields = [line.rstrip("\n").split(None, 5) for line in lines]
    except OSError:
        return []
    prefix = str(folder).rstrip("/") + "/"
    return sorted({field[5] for field in fields if len(field) == 6 and "x" in field[1] and field[5].startswith(prefix)})


def same_libraries(one, other):
    """Pairs (file, file) of libraries with equal bytes that are mapped from below two folders."""
    here, there = mapped_below(one), mapped_below(other)
    here = [path for path in here if path not in there]
    by_digest = {digest_of(path): path for path in here} if there else {}
    pairs = [(by_digest.get(digest_of(path)), path) for path in there] if by_digest else []
    return [pair for pair in pairs if pair[0] is not None]


def digest_of(path):
    """The file's blake2b digest; a name of its own for a file that cannot be read."""
    digest = hashlib.blake2b(digest_size=16)
    try:
        with open(path, "rb") as file:
            for part in iter(lambda: file.read(PART), b""):
                digest.update(part)
    except OSError:
        return "unread " + path
    return digest.hexdigest()
