"""Names the contributor page that this version of the product has, by its hash."""

from django.conf import settings

from heatmaps.page_bundle import bundle


def page_sha384() -> str:
    """Returns the SHA-384 of the whole bundle in base64; empty where its packages are not installed."""
    try:
        return bundle(settings.BASE_DIR / "static" / "contribute", settings.FRONT_DIR / "hpke")[1]
    except FileNotFoundError:
        return ""
