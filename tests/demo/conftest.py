import pytest


@pytest.fixture
def state(settings, tmp_path, db):
    """A fresh installation: no account, no file."""
    settings.STATE_DIR = tmp_path / "state"
    settings.KEY_DIR, settings.UPLOAD_DIR = settings.STATE_DIR / "keys", settings.STATE_DIR / "uploads"
    settings.REJECTED_DIR = settings.STATE_DIR / "rejected"
    for folder in (settings.STATE_DIR, settings.KEY_DIR, settings.UPLOAD_DIR):
        folder.mkdir()
    return settings.STATE_DIR
