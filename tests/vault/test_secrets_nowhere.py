"""Planted secrets: after a sync they are in no row of any table, no log, no answer."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vault.folders import Folder, make_folder
from vault.core.scrub import scrub
from vault.models import Note, ScrubFinding, VaultMember

pytestmark = pytest.mark.django_db

# Made up here. Each by its text in a file: the part that may be nowhere.
PLANTED = {
    "label.md": ("# Router\n\n- Password: hT9$kQ2!vLm4x", "hT9$kQ2!vLm4x"),
    "prose.md": ("The password is Zq7!wertTop9 for now.", "Zq7!wertTop9"),
    "table.md": ("| User | Пароль |\n|---|---|\n| ann | vR4%tYu8!mNb |", "vR4%tYu8!mNb"),
    "header.md": ("---\napi_key: Qw8erTy2UiOp4AsD6fGh\n---\nwords", "Qw8erTy2UiOp4AsD6fGh"),
    "tag.md": ("# ghp_" + "Ab3" * 12 + "\n\nwords", "ghp_" + "Ab3" * 12),
    "url.md": ("See https://ann:s7Kd9fJq2mXz@db1.corp.net/x", "s7Kd9fJq2mXz"),
    "link.md": ("[[Note AKIAZYXWVUTSRQPONMLK]]", "AKIAZYXWVUTSRQPONMLK"),
    "code.py": ('TOKEN = "xoxb-123456789012-AbCdEfGhIjKlMnOp"\n', "AbCdEfGhIjKlMnOp"),
    "board.canvas": (
        json.dumps({"nodes": [{"id": "1", "type": "text", "text": "Passwort: pL5&nBv7!cXz"}]}),
        "pL5&nBv7!cXz",
    ),
    "curl.md": (
        "Authorization: Basic " + base64.b64encode(b"ann:kJ8hG6fD4sA2").decode(),
        base64.b64encode(b"ann:kJ8hG6fD4sA2").decode(),
    ),
}


def tables_with(text: str) -> list[str]:
    """Tables in which some row has the text in any column."""
    with connection.cursor() as cursor:
        found = []
        for table in connection.introspection.table_names(cursor):
            name = connection.ops.quote_name(table)
            cursor.execute(
                f"SELECT count(*) FROM {name} AS r WHERE strpos(r::text, %s) > 0",
                [text],
            )
            if cursor.fetchone()[0]:
                found.append(table)
        return found


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = make_folder(tmp_path / "notes", code_suffixes=".py")
    for path, (text, _secret) in PLANTED.items():
        made.write(path, text)
    return made


def test_no_table_log_or_page_has_a_planted_secret(
    folder: Folder, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    run = folder.sync()
    assert run.counts["created"] == len(PLANTED)
    client = Client()
    client.force_login(VaultMember.objects.get(vault=folder.vault).user)  # type: ignore[arg-type]
    shown = [
        client.get(reverse("api-note", args=[pk])).content.decode()
        for pk in Note.objects.values_list("pk", flat=True)
    ]
    shown += [
        client.get(f"{reverse('search')}?q={word}").content.decode()
        for word in ("password", "Passwort", "words", "ann")
    ]
    shown.append(client.get(f"/vaults/{folder.vault.slug}/problems?kind=secrets").content.decode())
    out, err = capfd.readouterr()
    everything = "\n".join([*shown, caplog.text, out, err])
    for path, (_text, secret) in PLANTED.items():
        assert tables_with(secret) == [], path
        assert secret not in everything, path
    found = set(ScrubFinding.objects.values_list("note__path", flat=True))
    assert found == set(PLANTED)
    assert tables_with("secret:") != []


secrets = st.text("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789!$%&", min_size=10)


@given(
    st.lists(st.text("abcdef ghi\n#-", max_size=60), min_size=2, max_size=4),
    st.sampled_from(["password: {}", "Passwort: `{}`", "| Password |\n|---|\n| {} |", "pwd={}"]),
    secrets.filter(
        lambda text: (
            any(c.isdigit() for c in text)
            and any(c.islower() for c in text)
            and any(c.isupper() for c in text)
            and len(set(text)) > 5
            # By its look the name of a variable, which is no secret.
            and not re.fullmatch(r"\$[A-Za-z_]\w*|%\w+%", text)
        )
    ),
)
@settings(max_examples=150)
def test_a_strong_value_behind_a_label_never_survives(
    around: list[str], form: str, secret: str
) -> None:
    text = f"{around[0]}\n\n{form.format(secret)}\n\n{around[1]}"
    assert secret.rstrip("!") not in scrub(text).text


@pytest.mark.parametrize("secret", ["$A2222234a", "$Ab3!kd9$x", "%Ab3%kd9x!", "$2y$10$Abc9xyz"])
def test_a_secret_that_begins_as_a_variable_does_is_taken_out(secret: str) -> None:
    assert secret not in scrub(f"password: {secret}").text


@pytest.mark.parametrize("name", ["$DB_PASSWORD", "${DB_PASSWORD}", "$dbPassword2", "%DB_PASS%"])
def test_the_name_of_a_variable_stays(name: str) -> None:
    assert name in scrub(f"password: {name}").text
