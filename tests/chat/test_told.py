"""What an answer rests on, through any number of answers that were told one another."""

from __future__ import annotations

from uuid import UUID

import pytest

from chat.core.asking import Ask
from chat.history import open_turn
from chat.kept_texts import rescrub_kept
from chat.models import Message, Source
from chat.rights import has_lost_sources, lost_answers, lost_to
from chat.told import answers_after, answers_behind, vaults_behind
from tests.cast import Cast
from tests.chat.world import PUMP, UPDATED
from vault.models import VaultMember


def answered(cast: Cast, *, told: list[UUID] | None = None, path: str = "") -> UUID:
    """An answer of the mate, with a source at `path`, that was told these before it."""
    turn = open_turn(cast.mate, Ask(text="When?"), owner_process="here", lease_seconds=15)
    told_ids = [str(pk) for pk in told or []]
    Message.objects.filter(pk=turn.ids.message).update(told=told_ids, text=PUMP)
    if path:
        Source.objects.create(
            message_id=turn.ids.message,
            number=1,
            vault=cast.vault,
            path=path,
            title="A",
            text=PUMP,
            start=0,
            end=len(PUMP),
            note_updated=UPDATED,
        )
    return turn.ids.message


@pytest.fixture
def chain(cast: Cast) -> tuple[UUID, UUID, UUID]:
    """The first rests on a vault; the second was told the first, the third the second alone."""
    first = answered(cast, path="HR/pay.md")
    second = answered(cast, told=[first])
    return first, second, answered(cast, told=[second])


def test_a_chain_of_three_is_lost_with_its_first(
    cast: Cast, chain: tuple[UUID, UUID, UUID]
) -> None:
    beside = answered(cast)
    assert lost_answers(cast.mate) == set()
    assert not any(has_lost_sources(cast.mate, pk) for pk in chain)
    cast.vault.members.filter(user=cast.mate).delete()
    assert lost_answers(cast.mate) == set(chain)
    assert all(has_lost_sources(cast.mate, pk) for pk in chain)
    assert not has_lost_sources(cast.mate, beside)


def test_a_chain_of_three_is_lost_with_the_folder_of_its_first(
    cast: Cast, chain: tuple[UUID, UUID, UUID]
) -> None:
    cast.vault.members.filter(user=cast.mate).update(hidden_folders=["HR"])
    assert lost_answers(cast.mate) == set(chain)
    assert lost_to(dict.fromkeys(chain, cast.mate)) == set(chain)
    cast.vault.members.filter(user=cast.mate).update(hidden_folders=["Elsewhere"])
    assert lost_to(dict.fromkeys(chain, cast.mate)) == set()


def test_each_reader_is_asked_after_their_own_rights(
    cast: Cast, chain: tuple[UUID, UUID, UUID]
) -> None:
    readers = {chain[0]: cast.owner, chain[1]: cast.mate, chain[2]: cast.outsider}
    assert lost_to(readers) == {chain[2]}
    VaultMember.objects.create(vault=cast.vault, user=cast.outsider)
    assert lost_to(readers) == set()


def test_what_is_behind_and_what_is_after(cast: Cast, chain: tuple[UUID, UUID, UUID]) -> None:
    assert answers_behind(chain[2]) == set(chain)
    assert vaults_behind(chain) == {pk: {cast.vault.pk} for pk in chain}
    assert answers_after([chain[0]], among=Message.objects.all()) == set(chain[1:])
    assert answers_after([], among=Message.objects.all()) == set()


def test_rows_that_name_each_other_are_followed_once(cast: Cast) -> None:
    first = answered(cast)
    second = answered(cast, told=[first], path="a.md")
    Message.objects.filter(pk=first).update(told=[str(second)])
    assert answers_behind(first) == {first, second}
    assert answers_after([first], among=Message.objects.all()) == {first, second}


def test_a_deleted_vault_is_behind_the_whole_chain(
    cast: Cast, chain: tuple[UUID, UUID, UUID]
) -> None:
    cast.vault.delete()
    assert vaults_behind([chain[2]]) == {chain[2]: {None}}
    assert has_lost_sources(cast.mate, chain[2])


def test_new_rules_for_secrets_clean_the_whole_chain(
    cast: Cast, chain: tuple[UUID, UUID, UUID]
) -> None:
    rescrub_kept(cast.vault.pk, lambda text: text.replace("Ann", "[name]"))
    texts = Message.objects.filter(pk__in=chain).values_list("text", flat=True)
    assert len(texts) == 3
    assert all("[name]" in text and "Ann" not in text for text in texts)
