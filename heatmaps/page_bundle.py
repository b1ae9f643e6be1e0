"""Lists the files of the contributors' page with their SHA-384, which browsers install and facts name."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Final, TypeAlias

Manifest: TypeAlias = list[list[str]]  # [path below /contribute/, SHA-384 in base64], by path

PAGE: Final = Path(__file__).resolve().parents[1] / "templates" / "contribute" / "page.html"
PAGE_PATH: Final = ""  # of the page itself: /contribute/
SEALING_FOLDER: Final = "hpke/"
# Of one installation and its region, and no code: the same page is the same bundle everywhere.
OWN_TO_AN_INSTALLATION: Final = frozenset({"places.json", "bundle.json"})


def bundle(folder_of_contribute: Path, folder_of_hpke: Path, page: Path = PAGE) -> tuple[Manifest, str]:
    """Returns the manifest, and the SHA-384 of its canonical text in base64.

    The page is served as it stands: its file has no template's marks. Errors: OSError for a missing file.
    """
    files = {PAGE_PATH: page}
    for prefix, folder in (("", folder_of_contribute), (SEALING_FOLDER, folder_of_hpke)):
        paths = [path for path in folder.rglob("*") if path.is_file()]
        if not paths:
            raise FileNotFoundError(f"{folder.name} has no files")
        files |= {prefix + path.relative_to(folder).as_posix(): path for path in paths}
    manifest = [
        [path, _sha384(file.read_bytes())]
        for path, file in sorted(files.items())
        if path not in OWN_TO_AN_INSTALLATION and not file.name.startswith(".")
    ]
    return manifest, _sha384(canonical(manifest))


def canonical(manifest: Manifest) -> bytes:
    """Writes JSON without blanks, in ASCII: what `/contribute/bundle.json` is."""
    return json.dumps(manifest, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def _sha384(content: bytes) -> str:
    return base64.b64encode(hashlib.sha384(content).digest()).decode("ascii")
