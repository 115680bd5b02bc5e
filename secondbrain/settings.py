"""Settings of the project. Everything that differs between installs is read in env.py."""

from __future__ import annotations

import base64
import hashlib
from urllib.parse import urlsplit

import django_stubs_ext
from csp.constants import NONE, SELF

from secondbrain.env import BASE_DIR, data_dir, env, secret
from secondbrain.logs import logging_config

# Lets models and querysets name their types at run time as they do for the type checker.
django_stubs_ext.monkeypatch()

DATA_DIR = data_dir()
DEBUG = env.bool("DEBUG", default=False)
SECRET_KEY = secret("SECRET_KEY", file_name="secret_key")
# The first key encrypts provider keys, all of them decrypt: rotation is adding one in
# front. Apart from SECRET_KEY, so that rotating one does not lose the other.
ENCRYPTION_KEYS = [
    base64.urlsafe_b64encode(hashlib.sha256(key.encode()).digest())
    for key in secret("ENCRYPTION_KEYS", file_name="encryption_keys").split(",")
]

PORT = env.int("PORT", default=8000)
PUBLIC_ORIGIN = env.str("PUBLIC_ORIGIN", default=f"http://localhost:{PORT}").rstrip("/")
_origin = urlsplit(PUBLIC_ORIGIN)
ALLOWED_HOSTS = env.list(
    "ALLOWED_HOSTS", default=[str(_origin.hostname), "localhost", "127.0.0.1", "[::1]"]
)
ALLOWED_ORIGINS = env.list(
    "ALLOWED_ORIGINS",
    default=[PUBLIC_ORIGIN, f"http://127.0.0.1:{PORT}", f"http://localhost:{PORT}"],
)
CSRF_TRUSTED_ORIGINS = ALLOWED_ORIGINS
SECURE_COOKIES = _origin.scheme == "https"

# Which optional parts are mounted. Without "chat" there is no chat URL, socket or menu.
MODULES = env.list("MODULES", default=["chat"])

INSTALLED_APPS = [
    "daphne",
    "secondbrain.apps.SecondBrainConfig",
    "secondbrain.apps.SecondBrainAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "channels",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "django_htmx",
    "django_structlog",
    "auditlog",
    "django_q",
    "providers",
    "vault",
    "retrieval",
    *(["chat"] if "chat" in MODULES else []),
]

MIDDLEWARE = [
    "secondbrain.requests.count_requests",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "secondbrain.unsent_forms.explain_unsent_forms",
    "auditlog.middleware.AuditlogMiddleware",
    "django_structlog.middlewares.RequestMiddleware",
]

# Whoever shows it may read /metrics; without it only staff who are signed in.
METRICS_TOKEN = env.str("METRICS_TOKEN", default="")

ROOT_URLCONF = "secondbrain.urls"
ASGI_APPLICATION = "secondbrain.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "secondbrain.context_processors.site",
            ]
        },
    }
]

# manage.py starts the embedded server and sets DATABASE_URL when it is unset; what reads
# settings without manage.py (a type checker) gets an address that simply is not there.
DATABASES = {
    "default": env.db_url(
        "DATABASE_URL", default=f"postgres:///secondbrain?host={DATA_DIR}/postgres"
    )
}
# "web" may use a connection pool; "worker" forks, and a pool shared by forked processes
# loses tasks (a system check refuses it).
PROCESS_ROLE = env.str("PROCESS_ROLE", default="command")
_database = DATABASES["default"]
_database["ATOMIC_REQUESTS"] = False
_database.setdefault("OPTIONS", {})
if PROCESS_ROLE == "web" and env.bool("DATABASE_POOL", default=True):
    _database["OPTIONS"]["pool"] = {
        "min_size": 2,
        "max_size": env.int("DATABASE_POOL_SIZE", default=20),
        # Who waits longer is told that the database is away.
        "timeout": env.float("DATABASE_POOL_WAIT", default=10.0),
        # Tries begin anew after this: their pauses double without end.
        "reconnect_timeout": 8.0,
    }
else:
    _database["CONN_MAX_AGE"] = 60
    _database["CONN_HEALTH_CHECKS"] = True
# Only statements that ask for it are kept (retrieval/database.py), whatever the number; without
# one, none is.
if env.bool("DATABASE_KEEPS_STATEMENTS", default=True):
    _database["OPTIONS"].setdefault("prepare_threshold", 5)

# Passages whose vectors each process keeps by their signs, 65 bytes each with 384 numbers.
SEARCH_KEPT_PASSAGES = env.int("SEARCH_KEPT_PASSAGES", default=2_000_000)

CHANNEL_LAYERS = {
    "default": {"BACKEND": "channels.layers.InMemoryChannelLayer", "CONFIG": {"capacity": 2000}}
}
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "secondbrain_cache",
        # Django's own 300 would have the limits of sign-ins thrown out by whoever tries many.
        "OPTIONS": {"MAX_ENTRIES": 10_000},
    },
    # django-q2 writes its statistics twice a second; nobody reads them.
    "queue": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"},
}

# The queue is only a doorbell (vault/jobs.py holds the truth). Why these numbers:
# docs/operations.md, "The worker".
JOB_TIMEOUT = env.int("JOB_TIMEOUT", default=300)
JOB_WORKERS = env.int("JOB_WORKERS", default=1)
Q_CLUSTER = {
    "name": "secondbrain",
    "orm": "default",
    "cache": "queue",
    "workers": JOB_WORKERS,
    "queue_limit": JOB_WORKERS,
    "timeout": JOB_TIMEOUT,
    "retry": JOB_TIMEOUT * 2 + 60,
    "max_attempts": 5,
    "ack_failures": False,
    "save_limit": -1,
    "catch_up": False,
    "recycle": 200,
    "poll": 0.5,
}
# Seconds: how long a claimed job stays claimed without a sign of life, when a bell that
# nobody heard is rung again, how often the worker looks for such jobs, how often it sends
# a canary and how long that may take, how long a due job may wait while nobody works
# before the cluster is started anew, how long a stop waits for running work, and how
# often every vault is scanned.
JOB_LEASE = env.float("JOB_LEASE", default=20.0)
JOB_RING_AGAIN = env.float("JOB_RING_AGAIN", default=10.0)
WORKER_SWEEP = env.float("WORKER_SWEEP", default=3.0)
WORKER_CANARY = env.float("WORKER_CANARY", default=30.0)
WORKER_CANARY_LIMIT = env.float("WORKER_CANARY_LIMIT", default=90.0)
WORKER_PATIENCE = env.float("WORKER_PATIENCE", default=20.0)
WORKER_STOP = env.float("WORKER_STOP", default=20.0)
SCAN_INTERVAL = env.float("SCAN_INTERVAL", default=300.0)
# A file is read when nobody wrote to it for this long: seconds.
QUIET_SECONDS = env.float("QUIET_SECONDS", default=1.0)
# A count for a page that takes longer is shown as unknown: seconds.
COUNT_SECONDS = env.float("COUNT_SECONDS", default=2.0)
# kind -> function(Job) -> vault.jobs.Again | None. Each app to the left may add its own.
JOB_HANDLERS = {
    "sync": "vault.tasks.sync_vault_job",
    "rescrub": "vault.tasks.rescrub_vault_job",
    "embed": "vault.tasks.embed_vault_job",
    "vector_index": "vault.tasks.vector_index_job",
    "lexemes": "vault.tasks.refresh_lexemes_job",
    "switch": "vault.index_tasks.switch_job",
    "cleanup": "vault.index_tasks.cleanup_job",
    "enrich": "vault.index_tasks.enrich_job",
    "check": "vault.index_tasks.check_job",
    "remove": "vault.removal_tasks.remove_job",
    "evaluate": "retrieval.tasks.evaluate_job",
    "evaluate_changes": "retrieval.tasks.evaluate_changes_job",
    "try_switch": "retrieval.tasks.try_switch_job",
    "try_sizes": "retrieval.tasks.try_sizes_job",
    "tidy_trials": "retrieval.tasks.tidy_trials_job",
    **(
        {
            "chat_sweep": "chat.tasks.sweep_job",
            "chat_unanswered": "chat.tasks.check_unanswered_job",
        }
        if "chat" in MODULES
        else {}
    ),
}
# Kinds of jobs that are wanted when a sync changed a vault, and when another model serves it.
JOBS_AFTER_SYNC = ["evaluate_changes", *(["chat_unanswered"] if "chat" in MODULES else [])]
JOBS_AFTER_SWITCH = ["evaluate_changes"]
# Kinds of jobs that try an embedding model before it serves a vault (vault/index_tasks.py).
JOBS_BEFORE_SWITCH = ["try_switch"]
# Kinds of jobs that end trials of passage sizes which nobody works at any more.
JOBS_FOR_TRIALS = ["tidy_trials"]

# Who remembers what an answer cited: function(user, source id, note id), see vault/note_page.py.
CITED_TEXT = "chat.sources.cited_text" if "chat" in MODULES else ""
# Who keeps texts of notes besides the vault's tables: functions(vault id, clean), see
# vault/rescrub.py.
KEPT_TEXTS = [
    "vault.facts.rescrub_kept",
    *(["chat.kept_texts.rescrub_kept"] if "chat" in MODULES else []),
]

AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "secondbrain.accounts.ClosedSignupAdapter"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGOUT_ON_GET = False
ACCOUNT_SESSION_REMEMBER = None  # the sign-in page asks
ACCOUNT_DEFAULT_HTTP_PROTOCOL = _origin.scheme  # of links in mails, whatever a proxy speaks
# Reverse proxies in front: sign-ins are limited by the address that the outermost of them saw,
# and pages know that it speaks https. Nobody else is believed what these headers say.
TRUSTED_PROXIES = env.int("TRUSTED_PROXIES", default=0)
ALLAUTH_TRUSTED_PROXY_COUNT = TRUSTED_PROXIES
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXIES else None
EMAIL_BACKEND = env.str("EMAIL_BACKEND", default="django.core.mail.backends.console.EmailBackend")
EMAIL_HOST = env.str("EMAIL_HOST", default="localhost")
EMAIL_PORT = env.int("EMAIL_PORT", default=25)
EMAIL_HOST_USER = env.str("EMAIL_HOST_USER", default="")
EMAIL_HOST_PASSWORD = env.str("EMAIL_HOST_PASSWORD", default="")
EMAIL_USE_TLS = env.bool("EMAIL_USE_TLS", default=False)
EMAIL_TIMEOUT = 20  # a page waits for it
DEFAULT_FROM_EMAIL = env.str("EMAIL_FROM", default=f"secondbrain@{_origin.hostname}")

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_COOKIES
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "manifest-src": [SELF],
    }
}

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English")]
TIME_ZONE = env.str("TIME_ZONE", default="UTC")
USE_TZ = True
FORMAT_MODULE_PATH = "secondbrain.formats"

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "secondbrain.staticfiles.HashedModulesStorage"},
}
# Files are found where they lie as well as in STATIC_ROOT, so a test or a checkout that
# never ran collectstatic still has its style.
WHITENOISE_USE_FINDERS = True

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "vault.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "EXCEPTION_HANDLER": "secondbrain.script_errors.rest_error",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "SecondBrain",
    "DESCRIPTION": "Ask questions of your team's notes.",
    "VERSION": "0.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
    "SWAGGER_UI_DIST": "SIDECAR",
    # The default comes from a server of others.
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "secondbrain.error_schema.describe_errors",
    ],
    # What a request must have is not what an answer has.
    "COMPONENT_SPLIT_REQUEST": True,
}

DATA_UPLOAD_MAX_MEMORY_SIZE = 2_500_000

# Hosts that model calls may reach although they are private, as host:port. Ollama's usual
# place is allowed; a metadata service never is.
ALLOWED_PRIVATE_ENDPOINTS = env.list(
    "ALLOWED_PRIVATE_ENDPOINTS", default=["localhost:11434", "127.0.0.1:11434"]
)

# How long a further search waits for the reader to allow it.
TOOL_DECISION_SECONDS = env.float("TOOL_DECISION_SECONDS", default=120.0)
# How long a model server may stay silent. Keep-alives do not count as content.
PROVIDER_CONNECT_SECONDS = env.float("PROVIDER_CONNECT_SECONDS", default=5.0)
PROVIDER_FIRST_CONTENT_SECONDS = env.float("PROVIDER_FIRST_CONTENT_SECONDS", default=120.0)
PROVIDER_BETWEEN_CONTENT_SECONDS = env.float("PROVIDER_BETWEEN_CONTENT_SECONDS", default=60.0)

LOG_LEVEL = env.str("LOG_LEVEL", default="INFO")
LOG_JSON = env.bool("LOG_JSON", default=False)
LOGGING = logging_config(level=LOG_LEVEL, as_json=LOG_JSON)
