"""Lists the modules that a command has loaded or, as `main`, a child (`test_start.py`)."""

import runpy
import sys
from contextlib import suppress

from heatmaps.ingest.formats import text_child  # noqa: F401  # what the child of a small file runs


def main():
    sys.stdout.write(" ".join(sorted(sys.modules)))


if __name__ == "__main__":
    with suppress(SystemExit):  # of --help
        runpy.run_path("manage.py", run_name="__main__")
    sys.stdout.write("\n")
    main()
