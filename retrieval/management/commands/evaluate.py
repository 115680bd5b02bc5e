"""`manage.py evaluate [VAULT|FOLDER]`: how well search finds what it should."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from retrieval.beir import Unreadable, read_collection, throw_away_vault
from retrieval.core.metrics import MEASURES
from retrieval.core.types import Fusion, Knobs, Mode
from retrieval.evaluation import Asked, Evaluation, ask_all, questions_of, read_golden_notes
from retrieval.evaluation.questions import Broken, golden_notes
from retrieval.knob_form import LIMITS
from retrieval.management.sizes import trial_lines, trial_report, try_sizes, wanted_sizes
from retrieval.options import site_knobs
from vault.access import whole_vault
from vault.management.progress import progress_bar
from vault.models import Vault
from vault.settings_forms import HOW_NOTES_ARE_CUT

TITLES = {"ndcg_10": "nDCG@10", "recall_10": "recall@10", "recall_20": "recall@20"}
TITLES["mrr_10"] = "MRR@10"


class Command(BaseCommand):
    help = (
        "Ask golden questions and measure the answers. VAULT: those of a vault. FOLDER: a "
        "collection in BEIR layout, in a vault that is thrown away. With sizes of passages: they "
        "are tried beside the vault's own. Exit code 1: no questions, or less is found."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "what", nargs="*", metavar="VAULT|FOLDER", help="default: every vault with questions"
        )
        parser.add_argument("--mode", default="", help=f"{', '.join(Mode)}; default: hybrid")
        parser.add_argument("--fusion", default="", help=f"{', '.join(Fusion)}; default: as set")
        parser.add_argument("--rerank", default="", choices=["", "on", "off"])
        parser.add_argument("--depth", type=int, default=0, help="candidates of each arm")
        parser.add_argument("--part", default="", choices=["", "dev", "test"], help="FOLDER only")
        parser.add_argument("--queries", type=int, default=0, help="at most so many; 0: all")
        parser.add_argument("--documents", type=int, default=0, help="FOLDER only: about so many")
        parser.add_argument(
            "--least", type=float, default=0.0, help="exit code 1 below this nDCG@10"
        )
        parser.add_argument("--json", action="store_true")
        sizes = parser.add_argument_group("other sizes of passages, tried on copies of one vault")
        for name in HOW_NOTES_ARE_CUT:
            sizes.add_argument(f"--{name.replace('_', '-')}", type=int, metavar="TOKENS")
        sizes.add_argument("--yes", action="store_true", help="the vectors may cost something")

    def handle(self, *args: Any, **options: Any) -> None:
        knobs = _knobs(options)
        folders = [Path(name) for name in options["what"] if Path(name).is_dir()]
        if folders and len(folders) != len(options["what"]):
            raise CommandError("Name vaults or folders, not both.", returncode=2)
        if any(options[name] is not None for name in HOW_NOTES_ARE_CUT):
            self._try_sizes(options, knobs)
            return
        if folders:
            reports = [self._folder(folders, knobs, options)]
        else:
            reports = [self._vault(vault, knobs) for vault in _vaults(options["what"])]
        self._print(reports, as_json=options["json"])
        scores = [report["metrics"]["all"]["ndcg_10"] for report in reports]
        if not scores or not all(report["metrics"]["all"]["questions"] for report in reports):
            self.stderr.write("There are no golden questions: see the page Evaluation.")
            raise SystemExit(1)
        if min(scores) < options["least"]:
            raise CommandError(f"nDCG@10 {min(scores):.3f} is below {options['least']}.")

    def _try_sizes(self, options: dict[str, Any], knobs: Knobs) -> None:
        """Both sizes over the vault's questions. Exit code 1 where the tried ones find less."""
        if len(options["what"]) != 1:
            raise CommandError("Name the one vault whose passages are tried.", returncode=2)
        [vault] = _vaults(options["what"])
        sizes = wanted_sizes(vault, options)
        trial = try_sizes(vault, sizes, knobs=knobs, may_cost=options["yes"])
        if options["json"]:
            self.stdout.write(json.dumps(trial_report(trial), ensure_ascii=False, indent=2))
        else:
            self.stdout.write("\n".join(trial_lines(trial)))
        if trial.report["is_worse"]:
            raise CommandError("These sizes find less: the vault was left as it is.")

    def _folder(self, folders: list[Path], knobs: Knobs, options: dict[str, Any]) -> dict[str, Any]:
        try:
            collection = read_collection(folders)
            if options["part"]:
                collection = replace(collection, questions=collection.part(options["part"]))
            if options["queries"]:
                chosen = collection.questions[: options["queries"]]
                collection = replace(collection, questions=chosen)
            with (
                progress_bar(folders[0].name) as show,
                throw_away_vault(collection, documents=options["documents"], tell=show) as (
                    vault,
                    questions,
                ),
            ):
                return _report(folders[0].name, _ask(vault, questions, knobs, show))
        except Unreadable as error:
            raise CommandError(str(error), returncode=2) from error

    def _vault(self, vault: Vault, knobs: Knobs) -> dict[str, Any]:
        broken = read_golden_notes(vault)
        without = [note.path for note in golden_notes(vault)]
        with progress_bar(vault.slug) as show:
            found = _ask(vault, questions_of(vault), knobs, show, without=without)
        return _report(vault.slug, found, broken)

    def _print(self, reports: list[dict[str, Any]], *, as_json: bool) -> None:
        if as_json:
            shown = reports[0] if len(reports) == 1 else {"evaluations": reports}
            self.stdout.write(json.dumps(shown, ensure_ascii=False, indent=2))
            return
        for report in reports:
            self._print_table(report)

    def _print_table(self, report: dict[str, Any]) -> None:
        metrics = report["metrics"]
        width = max(20, *(len(name) for name in (*metrics["by_class"], report["name"])))
        head = "".join(f"{TITLES[name]:>11}" for name in MEASURES)
        self.stdout.write(f"{report['name']:{width}}{'questions':>11}{head}")
        rows = [("all", metrics["all"])]
        for group in ("by_class", "by_language"):
            if len(metrics[group]) > 1:
                rows += [(name or "(none)", scores) for name, scores in metrics[group].items()]
        for name, scores in rows:
            shown = "".join(f"{scores[measure]:11.3f}" for measure in MEASURES)
            self.stdout.write(f"{name:{width}}{scores['questions']:11}{shown}")
        self.stdout.write(f"p50 {metrics['ms']['p50']} ms, p95 {metrics['ms']['p95']} ms")
        for line in report["broken"]:
            self.stderr.write(f"{line['path']}, line {line['line']}: {line['reason']}")


def _ask(
    vault: Vault,
    questions: list[Asked] | tuple[Asked, ...],
    knobs: Knobs,
    show: Any,
    *,
    without: list[str] | None = None,
) -> Evaluation:
    def tell(done: int) -> bool:
        show("ask", done, len(questions))
        return True

    return ask_all(
        questions, scope=whole_vault(vault), knobs=knobs, without=without or (), on_answer=tell
    )


def _report(name: str, found: Evaluation, broken: tuple[Broken, ...] = ()) -> dict[str, Any]:
    return {
        "name": name,
        "metrics": found.metrics,
        "questions": [
            {
                "id": answer.asked.key,
                "text": answer.asked.text,
                "class": answer.asked.question_class,
                "language": answer.asked.language,
                "ranks": answer.ranks,
                "ndcg_10": round(answer.scores.ndcg_10, 4),
            }
            for answer in found.answers
        ],
        "broken": [
            {each.name: getattr(line, each.name) for each in fields(line)} for line in broken
        ],
    }


def _vaults(slugs: list[str]) -> list[Vault]:
    vaults = {vault.slug: vault for vault in Vault.objects.order_by("slug")}
    unknown = [slug for slug in slugs if slug not in vaults]
    if unknown:
        known = ", ".join(vaults) or "none yet (add_vault)"
        raise CommandError(
            f"“{unknown[0]}” is neither a folder nor a vault. Vaults: {known}.", returncode=2
        )
    if slugs:
        return [vaults[slug] for slug in dict.fromkeys(slugs)]
    for vault in vaults.values():
        read_golden_notes(vault)
    return [vault for vault in vaults.values() if vault.eval_questions.exists()]


def _knobs(options: dict[str, Any]) -> Knobs:
    knobs = site_knobs()
    try:
        mode = Mode(options["mode"] or Mode.HYBRID)
        fusion = Fusion(options["fusion"] or knobs.fusion)
    except ValueError as error:
        raise CommandError(f"{error}: see --help.", returncode=2) from error
    rerank = {"on": True, "off": False}.get(options["rerank"], knobs.rerank)
    depth = options["depth"] or knobs.depth
    _check("depth", depth, *LIMITS["depth"])
    _check("queries", options["queries"], 0)
    _check("documents", options["documents"], 0)
    return replace(knobs, mode=mode, fusion=fusion, rerank=rerank, depth=depth)


def _check(name: str, value: int, least: int, most: int | None = None) -> None:
    if value < least or (most is not None and value > most):
        allowed = f"from {least} to {most}" if most is not None else f"{least} or more"
        raise CommandError(f"--{name}: {value} is not {allowed}.", returncode=2)
