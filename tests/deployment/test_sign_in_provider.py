"""Settings of the provider: read, or refused by name, value and what is allowed."""

import pytest

from heatmaps.config import sign_in_provider

ISSUER = "https://login.example.org/realm"
GIVEN = {
    "HAZEMAP_OIDC_ISSUER": ISSUER,
    "HAZEMAP_OIDC_CLIENT_ID": "hazemap",
    "HAZEMAP_OIDC_CLIENT_SECRET": "s3cret",
}
OTHERS = ("CLIENT_SECRET_FILE", "NAME", "SIGN_UP", "HOSTS")


@pytest.fixture(autouse=True)
def given(monkeypatch):
    for name in (*GIVEN, *(f"HAZEMAP_OIDC_{other}" for other in OTHERS)):
        monkeypatch.delenv(name, raising=False)

    def give(**others):
        for name, value in (
            GIVEN | {f"HAZEMAP_OIDC_{name}": value for name, value in others.items()}
        ).items():
            monkeypatch.setenv(name, value)

    return give


def test_there_is_none_unless_asked_for():
    assert sign_in_provider.sign_in_provider() is None
    assert sign_in_provider.for_allauth(None)["openid_connect"]["APPS"] == []


def test_it_reads_one(given):
    given(NAME="Example University", HOSTS="tokens.example.org, keys.example.org:8443")
    found = sign_in_provider.sign_in_provider()
    assert (found.issuer, found.client_id, found.client_secret) == (ISSUER, "hazemap", "s3cret")
    assert (found.name, found.sign_up) == ("Example University", False)
    assert found.hosts == (
        "https://login.example.org",
        "https://tokens.example.org",
        "https://keys.example.org:8443",
    )
    assert "s3cret" not in repr(found)


def test_its_secret_may_be_in_a_file(given, tmp_path):
    (tmp_path / "secret").write_text("from a file\n")
    given(CLIENT_SECRET="", CLIENT_SECRET_FILE=str(tmp_path / "secret"))
    assert sign_in_provider.sign_in_provider().client_secret == "from a file"
    given(CLIENT_SECRET_FILE=str(tmp_path / "secret"))
    with pytest.raises(RuntimeError, match="HAZEMAP_OIDC_CLIENT_SECRET_FILE, not both"):
        sign_in_provider.sign_in_provider()


def test_another_issuer_is_another_provider(given):
    given()
    before = sign_in_provider.sign_in_provider()
    given(ISSUER=f"{ISSUER}/")
    after = sign_in_provider.sign_in_provider()
    assert before.key != after.key
    for provider in (before, after):
        (app,) = sign_in_provider.for_allauth(provider)["openid_connect"]["APPS"]
        assert app["provider_id"] == provider.key
        assert app["settings"]["server_url"] == f"{ISSUER}/.well-known/openid-configuration"


@pytest.mark.parametrize("issuer", ["http://127.0.0.1:9000/o", "http://localhost:9", "http://[::1]:9/o"])
def test_this_machine_may_do_without_encryption(given, issuer):
    given(ISSUER=issuer)
    assert sign_in_provider.sign_in_provider().hosts[0] == issuer.removesuffix("/o")


@pytest.mark.parametrize(
    "issuer",
    [
        "http://login.example.org",
        "https://me:pass@login.example.org",
        "https://login.example.org?realm=1",
        "https://login.example.org/#realm",
        "https://login.example.org; script-src *",
        "https://login.example.org/ 'unsafe-inline'",
        "https://*.example.org",
        "https://Login.example.org",
        "https://login.example.org:port",
        "http://localhost.example.org",
        "https:///realm",
        "login.example.org",
        "javascript:alert(1)",
    ],
)
def test_another_issuer_is_refused(given, issuer):
    given(ISSUER=issuer)
    with pytest.raises(RuntimeError, match="HAZEMAP_OIDC_ISSUER must be") as caught:
        sign_in_provider.sign_in_provider()
    assert repr(issuer) in str(caught.value)
    assert "https://login.example.org/realm" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("SIGN_UP", "yes", "HAZEMAP_OIDC_SIGN_UP must be 0 or 1, not 'yes'"),
        ("NAME", "n" * 41, "HAZEMAP_OIDC_NAME must be up to 40 characters"),
        ("NAME", "two\nlines", "HAZEMAP_OIDC_NAME must be"),
        ("HOSTS", "https://tokens.example.org", "HAZEMAP_OIDC_HOSTS must be names of hosts"),
        ("HOSTS", "tokens.example.org,*", r"HAZEMAP_OIDC_HOSTS must be .*not '\*'"),
        ("CLIENT_ID", "", "HAZEMAP_OIDC_ISSUER needs HAZEMAP_OIDC_CLIENT_ID"),
        ("CLIENT_SECRET", "", "HAZEMAP_OIDC_CLIENT_SECRET"),
        ("ISSUER", "", "need HAZEMAP_OIDC_ISSUER"),
    ],
)
def test_what_is_missing_or_wrong_is_named(given, name, value, message):
    given(**{name: value})
    with pytest.raises(RuntimeError, match=message):
        sign_in_provider.sign_in_provider()
