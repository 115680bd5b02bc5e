"""Which note each link of a vault leads to."""

from __future__ import annotations

from collections.abc import Collection

from vault.core.links import LinkIndex
from vault.models import Link, Note


def resolve_links(vault_id: int, *, sources: Collection[int] | None = None) -> int:
    """Point links at their notes by Obsidian's rules; returns how many changed.

    `sources` limits it to the links of these notes: enough when no path and no alias in
    the vault changed.
    """
    notes = Note.objects.filter(vault_id=vault_id).exclude(status=Note.Status.EXCLUDED)
    rows = list(notes.values_list("pk", "path", "aliases"))
    ids = {path: pk for pk, path, _aliases in rows}
    paths = {pk: path for pk, path, _aliases in rows}
    index = LinkIndex({path: aliases for _pk, path, aliases in rows})
    links = Link.objects.filter(vault_id=vault_id)
    if sources is not None:
        links = links.filter(source_id__in=sources)
    changed = []
    for link in links.select_related(None).only("raw_target", "source_id", "target_id"):
        source_path = paths.get(link.source_id)
        target = _target(link, source_path, index, ids) if source_path else None
        if link.target_id != target:
            link.target_id = target
            changed.append(link)
    Link.objects.bulk_update(changed, ["target"], batch_size=500)
    return len(changed)


def _target(link: Link, source_path: str, index: LinkIndex, ids: dict[str, int]) -> int | None:
    if not link.raw_target:
        return link.source_id  # [[#Heading]]: in the same note
    path = index.resolve(link.raw_target, source_path=source_path)
    return ids.get(path) if path is not None else None
