"""The state of the whole product in a few rows: for the admin's first page and `doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from providers.circuits import trouble_of
from providers.core.errors import ProviderError
from providers.registry import (
    available_chat_models,
    default_chat_model,
    default_embedding_model,
)
from vault import heartbeat
from vault.models import Job, Vault
from vault.sources import trouble_with
from vault.status import VaultStatus, vault_statuses

MOST_VAULT_ROWS = 10


class Level(StrEnum):
    OK = "ok"
    WARNING = "warning"
    BAD = "bad"


@dataclass(frozen=True)
class Check:
    """One part: what it is, how it stands, and what mends it."""

    name: str
    level: Level
    text: str
    mend: str = ""


def health() -> list[Check]:
    """Every check whose part can be asked; a dead database leaves only its own."""
    database = check_database()
    if database.level is Level.BAD:
        return [database]
    checks = [database, check_migrations(), check_extensions(), check_worker(), check_jobs()]
    checks += [check_embedder(), check_models()]
    return checks + check_vaults()


def check_vaults() -> list[Check]:
    """A row for each vault; where there are many, those in good order share one."""
    models = ("embedding_model__provider", "next_embedding_model__provider")
    vaults = list(Vault.objects.present().select_related(*models))
    stopped = {vault.pk: check for vault in vaults if (check := _stopped(vault))}
    running = [vault for vault in vaults if vault.pk not in stopped]
    statuses = vault_statuses(running, with_problems=False)
    judged = {
        vault.pk: _judged(vault, status) for vault, status in zip(running, statuses, strict=True)
    }
    checks = [(stopped | judged)[vault.pk] for vault in vaults]
    good = [check for check in checks if check.level is Level.OK]
    if len(checks) <= MOST_VAULT_ROWS:
        return checks
    told = [check for check in checks if check.level is not Level.OK]
    return [*told, Check("Vaults", Level.OK, f"{len(good)} of {len(checks)} in good order")]


def check_database() -> Check:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SHOW server_version")
            row = cursor.fetchone()
    except DatabaseError as error:
        text = f"cannot be reached: {error}".strip().splitlines()[0]
        return Check("Database", Level.BAD, text, "Start PostgreSQL or correct DATABASE_URL.")
    return Check("Database", Level.OK, f"PostgreSQL {row[0].split()[0] if row else ''}")


def check_migrations() -> Check:
    executor = MigrationExecutor(connection)
    waiting = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    if waiting:
        return Check("Tables", Level.BAD, f"{waiting} migrations wait", "Run manage.py migrate.")
    return Check("Tables", Level.OK, "up to date")


def check_extensions() -> Check:
    with connection.cursor() as cursor:
        cursor.execute("SELECT extname FROM pg_extension")
        present = {name for (name,) in cursor.fetchall()}
    missing = [name for name in ("vector", "pg_trgm", "unaccent") if name not in present]
    if missing:
        return Check(
            "Extensions",
            Level.WARNING,
            f"missing: {', '.join(missing)}",
            "Search works, slower or without its finer parts. Install them on the server.",
        )
    return Check("Extensions", Level.OK, "vector, pg_trgm, unaccent")


def check_worker() -> Check:
    if heartbeat.is_beating():
        return Check("Worker", Level.OK, "answers")
    return Check(
        "Worker",
        Level.BAD,
        "has not answered for a while",
        "Start it: manage.py worker. Until then notes are neither read nor embedded.",
    )


def check_jobs() -> Check:
    waiting = Job.objects.open().count()
    failed = Job.objects.filter(state=Job.State.FAILED).order_by("-finished").first()
    if failed is not None:
        text = f"{waiting} open; last failure: {failed.key}: {failed.last_error[:200]}"
        return Check("Jobs", Level.WARNING, text, "Open the job in the admin and retry it.")
    return Check("Jobs", Level.OK, f"{waiting} open")


def check_embedder() -> Check:
    model = default_embedding_model()
    if model is None:
        return Check(
            "Search by meaning",
            Level.WARNING,
            "no embedding model",
            "Run manage.py load_presets, or set one up in the admin.",
        )
    return Check("Search by meaning", Level.OK, str(model))


def check_models() -> Check:
    try:
        models = available_chat_models()
    except ProviderError as error:
        return Check("Answers", Level.BAD, str(error), error.mend)
    written = [model for model in models if model.provider.kind != "extractive"]
    if not written:
        return Check(
            "Answers",
            Level.WARNING,
            "quotes only: no model is configured",
            "Set a provider's key, such as OPENAI_API_KEY, or OLLAMA_URL.",
        )
    troubles = {model.provider.name: trouble_of(model.provider) for model in written}
    left_alone = [f"{name}: {trouble}" for name, trouble in troubles.items() if trouble]
    if left_alone:
        mend = "Calls begin again by themselves; “Test connection” in the admin tries it now."
        return Check("Answers", Level.WARNING, "; ".join(left_alone), mend)
    default = default_chat_model()
    others = [str(model) for model in written if model != default]
    return Check("Answers", Level.OK, ", ".join([f"{default} (default)", *others[:3]]))


def _how_far(status: VaultStatus) -> str:
    if status.notes is not None and status.part is not None:
        return f"{status.coverage} notes {status.how}"
    if any(job.kind == "sync" for job in status.jobs):
        return "is being read; too busy just now to say how far it is"
    return "counting its notes takes too long just now"


def _stopped(vault: Vault) -> Check | None:
    """What keeps a vault from being read at all."""
    name = f"Vault {vault.name}"
    if vault.state == Vault.State.PAUSED:
        return Check(name, Level.BAD, vault.pause_reason, "Answer on the vault's page.")
    if trouble := trouble_with(vault):
        return Check(name, Level.BAD, trouble, "Mend it; the next scan reads the vault then.")
    return None


def _judged(vault: Vault, status: VaultStatus) -> Check:
    name = f"Vault {vault.name}"
    text = _how_far(status)
    broken = (status.failed or 0) + (status.failed_notes or 0)
    if broken:
        mend = "See the list of problems on the vault's page; retry them there."
        return Check(name, Level.WARNING, f"{text}, {broken} failures", mend)
    return Check(name, Level.OK, text)
