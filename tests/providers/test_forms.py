"""The form of a provider: what it takes in, normalises and refuses."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings

from providers.forms import ProviderForm
from providers.models import Provider
from providers.registry import KIND_LABELS, KINDS
from tests.providers.rows import make_provider

pytestmark = pytest.mark.django_db
KEY = "sk-planted-1234567890abcdef"


def form_for(provider: Provider | None = None, **changes: Any) -> ProviderForm:
    data = {
        "slug": "acme",
        "name": "Acme",
        "kind": "openai",
        "base_url": "https://models.example.com/v1",
        "needs_key": True,
        "enabled": True,
        "position": 100,
        **changes,
    }
    return ProviderForm(data, instance=provider)


def saved(form: ProviderForm) -> Provider:
    assert form.is_valid(), form.errors
    return Provider.objects.get(pk=form.save().pk)


@pytest.mark.parametrize(
    ("kind", "given", "kept"),
    [
        ("openai", " https://models.example.com/v1/chat/completions ", "https://models.example.com/v1"),
        ("openai", "https://models.example.com", "https://models.example.com/v1"),
        ("rerank", "https://models.example.com/v2/rerank", "https://models.example.com/v2"),
        ("anthropic", "https://models.example.com/v1/messages", "https://models.example.com"),
        ("ollama", "http://models.example.com:11434/v1", "http://models.example.com:11434"),
        ("openai", "", ""),
        ("extractive", "never looked at", "never looked at"),
    ],
)  # fmt: skip
def test_base_urls_are_kept_in_one_form(kind: str, given: str, kept: str) -> None:
    assert saved(form_for(kind=kind, base_url=given)).base_url == kept


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://169.254.169.254/latest", "an address that is never called"),
        ("http://[fe80::1]/v1", "an address that is never called"),
        ("http://127.1:8000/v1", "127.1:8000 is 127.0.0.1, a private address"),
        ("http://localhost.:8000", "a private address"),
        ("https://10.0.0.7/v1", "10.0.0.7:443 is 10.0.0.7, a private address"),
        ("https://models.example.com:9/v1", "port 9 belongs to another kind of service"),
    ],
)
def test_an_address_that_may_not_be_called_is_not_kept(url: str, said: str) -> None:
    error = str(form_for(base_url=url).errors["base_url"][0])
    assert error.startswith("The call was refused: ")
    assert said in error
    assert "base URL" in error or "ALLOWED_PRIVATE_ENDPOINTS" in error


def test_a_private_address_that_is_allowed_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "ALLOWED_PRIVATE_ENDPOINTS", ["10.0.0.7:8000"])
    assert saved(form_for(base_url="http://10.0.0.7:8000")).base_url == "http://10.0.0.7:8000/v1"


def test_kinds_have_names_and_the_scripted_one_is_for_development(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert set(KIND_LABELS) == set(KINDS)
    page = form_for().as_p()
    assert "Quotes only, without a model" in page
    assert "Scripted answers" not in page
    assert not form_for(kind="fake").is_valid()
    assert form_for(make_provider("old", kind="fake"), slug="old", kind="fake").is_valid()
    monkeypatch.setattr(settings, "DEBUG", True)
    assert form_for(kind="fake").is_valid()


def test_the_key_goes_in_and_stands_in_no_html() -> None:
    provider = saved(form_for(new_key=KEY))
    assert provider.key == KEY
    for form in (form_for(provider, new_key=KEY), ProviderForm(instance=provider)):
        assert KEY not in form.as_p()
        assert KEY not in repr(form)


def test_a_new_host_with_a_new_key_loses_nothing() -> None:
    provider = make_provider("acme", key="sk-old")
    form = form_for(provider, base_url="https://elsewhere.example.com/v1", new_key=KEY)
    assert saved(form).key == KEY
    assert not form.lost_key


@pytest.mark.parametrize(
    "url",
    [
        "https://models.example.com:8443/v1",
        "https://models.example.org/v1",
        "http://models.example.com/v1",
        "https://models.example.com.evil.example/v1",
        "",
    ],
)
def test_a_key_stays_with_its_host_and_port(url: str) -> None:
    form = form_for(make_provider("acme", key=KEY), base_url=url)
    assert saved(form).key == ""
    assert form.lost_key


def test_another_path_or_spelling_of_the_host_keeps_the_key() -> None:
    form = form_for(make_provider("acme", key=KEY), base_url="https://MODELS.example.com/v2")
    assert saved(form).key == KEY
    assert not form.lost_key


def test_an_unknown_kind_and_a_taken_slug_are_refused() -> None:
    make_provider("acme")
    form = form_for(kind="telepathy")
    assert not form.is_valid()
    assert {"kind", "slug"} <= set(form.errors)


def test_no_variable_of_the_environment_is_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_THING", "leaked")
    provider = saved(form_for(base_url="https://models.example.com/${SECRET_THING}/v1"))
    assert provider.base_url == "https://models.example.com/${SECRET_THING}/v1"


@pytest.mark.parametrize("field", ["key_variable", "base_url_variable"])
@pytest.mark.parametrize("name", ["SECRET_KEY", " encryption_keys", "DATABASE_URL", "GIT_TOKEN_X"])
def test_no_provider_is_given_a_secret_of_the_site(field: str, name: str) -> None:
    form = form_for(None, **{field: name})
    assert "holds a secret of this site" in str(form.errors[field])
    assert saved(form_for(None, **{field: " ACME_KEY "})).slug == "acme"
