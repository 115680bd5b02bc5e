"""What `up` says on the terminal: where to go, how to sign in, how far indexing is."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from django.conf import settings
from django.db import DatabaseError, close_old_connections
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.table import Table

from providers.registry import default_chat_model
from secondbrain.first_start import HANDBOOK_NAME, Admin
from vault.models import Job, Vault
from vault.status import vault_status


def welcome(*, admin: Admin, vault: Vault) -> RenderableType:
    """The panel shown once everything runs."""
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="dim")
    rows.add_column()
    rows.add_row("Open", f"[bold]{settings.PUBLIC_ORIGIN}[/bold]")
    rows.add_row("Sign in", admin.email)
    if admin.generated_password:
        shown = f"[bold]{escape(admin.generated_password)}[/bold]  (shown only this once)"
        rows.add_row("Password", shown)
    else:
        rows.add_row("Password", "the one you set")
    rows.add_row("Vault", escape(f"{vault.name}, {vault.place}"))
    rows.add_row("Answers by", _model_line())
    rows.add_row("Stop", "Ctrl+C")
    hint = "[dim]Keyword search works at once; search by meaning fills in behind it.[/dim]"
    return Panel(Group(rows, "", _try_line(vault), hint), title="SecondBrain", expand=False)


def _try_line(vault: Vault) -> str:
    title = vault.note_set.order_by("?").values_list("title", flat=True).first()
    if vault.name == HANDBOOK_NAME:
        return "Try: [italic]What happens to an answer when the web process is killed?[/italic]"
    return f"Try: [italic]What do we know about {escape(title or vault.name)}?[/italic]"


def _model_line() -> str:
    model = default_chat_model()
    if model.provider.kind == "extractive":
        return f"{model} (set a provider's key, such as OPENAI_API_KEY, for written answers)"
    return f"{model} at {model.provider}"


class IndexProgress:
    """A bar for each vault that is being indexed; plain lines where there is no terminal."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.tasks: dict[int, TaskID] = {}
        self.unfinished: set[int] = set()
        self.told: dict[int, int | None] = {}
        self.skips = 0

    def __enter__(self) -> Self:
        self.bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.bars.stop()

    def refresh(self) -> None:
        """Look again, about once in two seconds of calls made every half second."""
        self.skips = (self.skips + 1) % 4
        if self.skips:
            return
        try:
            close_old_connections()
            for vault in Vault.objects.filter(pk__in=self._in_work()):
                self._show(vault)
        except DatabaseError:
            # The database restarts; the supervisor and the worker deal with it.
            return

    def _in_work(self) -> set[int]:
        """Vaults with open jobs, and those whose bar still stands."""
        jobs = Job.objects.open().exclude(vault=None).values_list("vault_id", flat=True)
        return {pk for pk in jobs if pk is not None} | self.unfinished

    def _show(self, vault: Vault) -> None:
        status = vault_status(vault, with_problems=False)
        if status.is_settled and status.last_run is not None:
            self._finish(vault, notes=status.notes)
            return
        self.unfinished.add(vault.pk)
        seconds = status.job.seconds_left if status.job else None
        left = f"{seconds} s left" if seconds is not None else ""
        if vault.pk not in self.tasks:
            self.tasks[vault.pk] = self.bars.add_task(vault.name, total=None, left="")
        self.bars.update(
            self.tasks[vault.pk],
            completed=status.embedded,
            total=status.chunks or None,
            left=left,
        )

    def _finish(self, vault: Vault, *, notes: int | None) -> None:
        if vault.pk in self.tasks:
            self.bars.remove_task(self.tasks.pop(vault.pk))
        if vault.pk in self.unfinished:
            self.unfinished.discard(vault.pk)
            if vault.pk in self.told and self.told[vault.pk] == notes:
                return
            self.told[vault.pk] = notes
            count = "all" if notes is None else notes
            self.console.print(f"{vault.name}: {count} notes are ready.")
