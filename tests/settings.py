"""Settings of the tests: the real ones, on a database server of their own kind.

pytest-django reads settings before any conftest.py, so the embedded server starts here.
"""

from __future__ import annotations

import os

os.environ.setdefault("LOG_LEVEL", "WARNING")
os.environ.setdefault("QUIET_SECONDS", "0")
os.environ.setdefault("SECRET_KEY", "only-for-tests-" + "x" * 40)
os.environ.setdefault("ENCRYPTION_KEYS", "only-for-tests")
# A key of the developer's must never be used, or billed, by a test.
for name in (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "TOGETHER_API_KEY",
    "OPENROUTER_API_KEY",
    "OLLAMA_URL",
):
    os.environ.pop(name, None)

from secondbrain.embedded import ensure_database  # noqa: E402

ensure_database()

from secondbrain.settings import *  # noqa: E402, F403

INSTALLED_APPS = [*INSTALLED_APPS, "tests.flushing"]  # noqa: F405
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    "queue": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"},
}
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
# WhiteNoise warns when there is nothing collected, and a warning is an error here.
STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # noqa: F405
