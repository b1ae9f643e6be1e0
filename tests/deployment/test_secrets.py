"""Passwords of services come from files, never from the environment's own text."""

import pytest

from heatmaps.config.environment import service_url


@pytest.fixture
def said(monkeypatch, tmp_path):
    def say(url, password=None):
        monkeypatch.setenv("HAZEMAP_BROKER_URL", url)
        monkeypatch.delenv("HAZEMAP_BROKER_PASSWORD_FILE", raising=False)
        if password is not None:
            file = tmp_path / "password"
            file.write_text(password)
            monkeypatch.setenv("HAZEMAP_BROKER_PASSWORD_FILE", str(file))
        return service_url("BROKER")

    return say


def test_it_leaves_an_address_without_a_file_alone(said):
    assert said("redis://redis:6379/0") == "redis://redis:6379/0"
    assert said("") == ""


def test_it_puts_the_password_of_the_file_into_the_address(said):
    assert said("redis://redis:6379/0", "abc\n") == "redis://:abc@redis:6379/0"
    assert said("redis://draws@redis:6379/0", "abc\n") == "redis://draws:abc@redis:6379/0"
    assert said("postgresql://hazemap@[::1]:5432/x?a=b", "p@/:%") == (
        "postgresql://hazemap:p%40%2F%3A%25@[::1]:5432/x?a=b"
    )


@pytest.mark.parametrize("url", ["", "redis://:other@redis:6379/0"])
def test_it_refuses_a_file_without_a_place_for_its_password(said, url):
    with pytest.raises(RuntimeError, match="HAZEMAP_BROKER_PASSWORD_FILE needs an address") as refusal:
        said(url, "secret-word")
    assert "secret-word" not in str(refusal.value)
