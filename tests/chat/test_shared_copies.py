"""A copy of a shared conversation follows the rights of whoever made it, link by link."""

from __future__ import annotations

import pytest

from chat.core.asking import Refused
from chat.core.sharing import ShareWish
from chat.models import Conversation
from chat.sharing import continue_link, make_link, open_link, token_of
from chat.threads import thread
from tests.cast import Cast, make_vault
from tests.chat.pages import add_turn, make_conversation, make_note
from vault.models import Vault, VaultMember


@pytest.fixture
def lent(cast: Cast) -> Vault:
    """A vault of the owner's that the mate may read as well, for now."""
    vault = make_vault("lent", owner=cast.owner)
    VaultMember.objects.create(vault=vault, user=cast.mate, role=VaultMember.Role.READER)
    return vault


@pytest.fixture
def talk(cast: Cast, lent: Vault) -> Conversation:
    """An answer from the lent vault, and one without sources that was told the first."""
    conversation = make_conversation(cast.owner)
    first = add_turn(conversation, "When?", "In the ninth week. [1]", note=make_note(lent))
    add_turn(conversation, "So?", "Every ninth, then.", told=[str(first.pk)])
    return conversation


def token(talk: Conversation) -> str:
    return token_of(make_link(talk.owner, talk.pk, ShareWish()))


def test_what_an_answer_was_told_is_copied_so_that_it_is_withheld_with_it(
    cast: Cast, lent: Vault, talk: Conversation
) -> None:
    copied = continue_link(cast.mate, token(talk))
    answers = thread(copied, cast.mate)[1::2]
    assert [answer["withheld"] for answer in answers] == [False, False]
    assert answers[1]["text"] == "Every ninth, then."
    lent.members.filter(user=cast.mate).delete()
    answers = thread(copied, cast.mate)[1::2]
    assert [answer["withheld"] for answer in answers] == [True, True]
    assert "ninth" not in str(answers)


def test_a_link_opens_nothing_to_who_was_suspended(cast: Cast, talk: Conversation) -> None:
    for user in (cast.mate, cast.owner):
        assert len(open_link(user, token(talk)).messages) == 4
        user.is_active = False
        with pytest.raises(Refused):
            open_link(user, token(talk))
        with pytest.raises(Refused):
            continue_link(user, token(talk))
