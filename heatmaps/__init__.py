"""Makes up the product: models, ledger, releases, pages and commands."""

from typing import Final

VERSION: Final = "0.1.0"
