"""The device client stands alone: the standard library and `cryptography`."""

import subprocess
import sys
from pathlib import Path

CLIENT = Path(__file__).resolve().parents[2] / "clients" / "device"
LOADED = """
import sys
before = {name.partition(".")[0] for name in sys.modules}
import hazemap_device.__main__
rooms = {name.partition(".")[0] for name in sys.modules} - before
print(*sorted(room for room in rooms if room not in sys.stdlib_module_names))
"""


def test_it_imports_nothing_but_the_standard_library_and_cryptography(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", LOADED],
        env={"PYTHONPATH": str(CLIENT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    # cryptography's compiled core brings two modules of its own.
    assert set(done.stdout.split()) <= {"cryptography", "hazemap_device", "_cffi_backend", "_openssl"}


def test_every_module_is_reached_from_the_commands(tmp_path):
    code = f"{LOADED}\nprint(*sorted(name for name in sys.modules if name.startswith('hazemap_device')))"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(CLIENT)}, cwd=tmp_path,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    files = (CLIENT / "hazemap_device").rglob("*.py")
    names = {
        ".".join(file.relative_to(CLIENT).with_suffix("").parts).removesuffix(".__init__") for file in files
    }
    assert names <= set(done.stdout.split())
