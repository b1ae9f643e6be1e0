"""Looks for many texts at once in what a role has: memory of its processes, files of its folders."""

from pathlib import Path

import numpy as np

HEAD = 8  # bytes that a text is first looked for by
_PIECE = 2**24


def memory(role):
    """What the processes of a role have in memory, mapping by mapping, but for files that are mapped."""
    for process in role.processes():
        try:
            maps = Path(f"/proc/{process.pid}/maps").read_text().splitlines()
        except OSError:
            continue  # it ended meanwhile
        with Path(f"/proc/{process.pid}/mem").open("rb", buffering=0) as image:
            for line in maps:
                span, rights, _, _, inode, *name = line.split()
                if rights.startswith("rw") and (inode == "0" or name) and name != ["[vvar]"]:
                    first, last = (int(end, 16) for end in span.split("-"))
                    yield read(image, first, last)


def read(image, first, last):
    content = bytearray()
    try:
        image.seek(first)
        while first < last and (part := image.read(last - first)):
            content += part
            first += len(part)
    except OSError:
        pass  # it was given back meanwhile
    return bytes(content)


def files(*folders):
    """Contents of all files below; also of a database, its log and its index."""
    for folder in folders:
        for path in [folder] if folder.is_file() else sorted(folder.rglob("*")):
            if path.is_file():
                yield path.read_bytes()


def found(texts, images):
    """Which of {text: what it is} stand somewhere in the images. Texts have 8 bytes or more."""
    by_head = {}
    for text in texts:
        assert len(text) >= HEAD
        by_head.setdefault(int.from_bytes(text[:HEAD], "little"), []).append(text)
    heads = np.array(sorted(by_head), np.uint64)
    is_start = np.zeros(2**24, bool)
    is_start[heads & np.uint64(0xFFFFFF)] = True
    seen = set()
    for image in images:
        for at in places(image, heads, is_start):
            head = int.from_bytes(image[at : at + HEAD], "little")
            seen.update(text for text in by_head[head] if image.startswith(text, at))
    return {text: texts[text] for text in seen}


def places(image, heads, is_start):
    """Where one of the heads stands."""
    for start in range(0, len(image) - HEAD + 1, _PIECE):
        piece = np.frombuffer(image[start : start + _PIECE + HEAD - 1], np.uint8)
        for shift in range(HEAD):
            words = piece[shift : shift + (piece.size - shift) // HEAD * HEAD].view(np.uint64)
            words_at = np.flatnonzero(is_start[words & np.uint64(0xFFFFFF)])
            if words_at.size:
                nearest = np.minimum(np.searchsorted(heads, words[words_at]), heads.size - 1)
                for at in words_at[heads[nearest] == words[words_at]].tolist():
                    yield start + shift + HEAD * at
