"""What must never be stored is replaced, and ordinary text survives."""

from __future__ import annotations

import base64
import random
import string
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault.core.scrub import mark_for, scrub

DIGITS = random.Random(20260914)
LETTERS = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def made_up(length: int, alphabet: str = LETTERS) -> str:
    """A secret of nobody, made now: no key stands in the source of a test."""
    body = "".join(DIGITS.choice(alphabet) for _ in range(length - 3))
    return body + "a7" + alphabet[0]


def make_jwt() -> str:
    def part(text: str) -> str:
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    return ".".join([part('{"alg":"HS256","typ":"JWT"}'), part('{"sub":"12345"}'), made_up(43)])


def make_pem(kind: str = "RSA ") -> str:
    lines = "\n".join(made_up(64) for _ in range(6))
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{lines}\n-----END {kind}PRIVATE KEY-----"


VENDOR_KEYS = {
    "openai-key": lambda: f"sk-proj-{made_up(48)}",
    "anthropic-key": lambda: f"sk-ant-api03-{made_up(80)}",
    "openrouter-key": lambda: f"sk-or-v1-{made_up(64, HEX)}",
    "aws-key": lambda: "AKIA" + made_up(16, string.ascii_uppercase + "234567").upper(),
    "github-token": lambda: f"ghp_{made_up(36)}",
    "gitlab-token": lambda: f"glpat-{made_up(20)}",
    "slack-token": lambda: f"xoxb-{made_up(12, string.digits)}-{made_up(24)}",
    "google-key": lambda: "AIza" + made_up(35),
    "stripe-key": lambda: f"sk_live_{made_up(24)}",
    "sendgrid-key": lambda: f"SG.{made_up(22)}.{made_up(43)}",
    "npm-token": lambda: f"npm_{made_up(36)}",
    "pypi-token": lambda: f"pypi-{made_up(90)}",
    "huggingface-token": lambda: f"hf_{made_up(34)}",
    "model-api-key": lambda: f"gsk_{made_up(52)}",
    "telegram-token": lambda: f"123456789:AA{made_up(33)}",
    "secondbrain-token": lambda: f"sb_{made_up(43)}",
    "webhook-url": lambda: f"https://hooks.slack.com/services/T1/B2/{made_up(24)}",
    "jwt": make_jwt,
    "private-key": make_pem,
}
CONTEXTS = [
    "{}",
    "- {}",
    "> {}",
    "| x | {} |",
    "`{}`",
    "```\nkey={}\n```",
    "see {}, then go on",
    '{{"k": "{}"}}',
]


@pytest.mark.parametrize("kind", VENDOR_KEYS)
@pytest.mark.parametrize("context", CONTEXTS)
def test_a_key_of_a_known_format_goes_in_every_context(kind: str, context: str) -> None:
    secret = VENDOR_KEYS[kind]()
    scrubbed = scrub(context.format(secret))
    assert secret not in scrubbed.text
    assert [finding.kind for finding in scrubbed.findings] == [kind]


LABELLED = [
    "password: {}",
    "- **Password:** `{}`",
    "Password = {}",
    "export DB_PASSWORD={}",
    '"password": "{}",',
    "password:\n    {}",
    "Password:\n```\n{}\n```",
    "| password | {} |",
    "| user | password |\n|---|---|\n| ada | {} |",
    "password (staging): {}",
    "Password for the wifi: {}",
    "The password is {}.",
    "The admin password is now {}",
    "the password was changed to {}",
    "Passwort: {}",
    "Das Kennwort lautet {}",
    "Пароль: {}",
    "пароль от сервера — {}",
    "mot de passe : {}",
    "La contraseña es {}",
    "wachtwoord is {}",
    "hasło: {}",
    "密码：{}",
    "パスワードは {} です",
    "mysql --password {} -u root",
    "curl -u ada:{} http://db",
]
KEY_LABELS = [
    "token: {}",
    "api_key = '{}'",
    "API key: {}",
    "client_secret={}",
    "accessToken: '{}'",
    "X-Api-Key: {}",
    "Authorization: Bearer {}",
    "Authorization: Token {}",
    "Geheimnis: {}",
    "Токен: {}",
    "| API token | {} |",
    "the api token is {}",
    "AWS_SECRET_ACCESS_KEY={}",
]


@pytest.mark.parametrize("context", LABELLED)
def test_a_labelled_password_goes(context: str) -> None:
    for _ in range(20):
        secret = made_up(11, LETTERS + "!&#+")
        text = scrub(context.format(secret)).text
        assert secret not in text, context
        assert "⟦secret:" in text


@pytest.mark.parametrize("context", KEY_LABELS)
def test_a_labelled_key_goes(context: str) -> None:
    for _ in range(20):
        secret = made_up(24)
        assert secret not in scrub(context.format(secret)).text, context


@pytest.mark.parametrize(
    "line", ["password: swordfish", "- Passwort: Blaubeere", 'password = "opensesame"']
)
def test_a_plain_word_goes_where_the_whole_line_is_about_it(line: str) -> None:
    assert scrub(line).findings[0].kind == "password"


def test_the_password_of_an_address_goes_and_the_rest_stays() -> None:
    scrubbed = scrub("postgres://ada:Fx92kd-pq@db.internal:5432/x")
    assert scrubbed.text == "postgres://ada:⟦secret:url-password⟧@db.internal:5432/x"


@pytest.mark.parametrize(
    "secret", ["Company2026!", "Sommer2025!!", "Acme@2026", "Acme-2024#", "Лето2026!", "2026Acme!"]
)
def test_a_name_with_a_year_and_a_sign_goes(secret: str) -> None:
    assert secret not in scrub(f"Log in with {secret} please").text


def test_basic_credentials_go_wherever_they_decode_to_user_and_password() -> None:
    value = base64.b64encode(b"ada:lovelace").decode()
    assert value not in scrub(f"send Basic {value} along").text


INNOCENT = """
The password is required and must be strong.
password: string
token: str = "none"
password reset link: https://example.org/reset
Passwords are case-sensitive; a password is 8-20 characters.
token count: 4000, max_tokens: 4096
password = get_password()
connect(user=user, password=password)
secret = os.environ["SECRET"]
API_KEY=your-api-key
password: <your password>
password: ${DB_PASSWORD}
password: {{ vault.password }}
| password | string | the user's password |
The token is base64-encoded and the password is SHA256 hashed.
The secret of success: hard work.
commit 9f8a7d6e5c4b3a21f00dbabe9f8a7d6e5c4b3a21
#PyCon2026! Did you see PyCon2026? It was founded2026!
https://user:password@example.org/
-----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY----- frame a key.
-----BEGIN PRIVATE KEY-----
...
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
Keep your API key in a vault: never in notes.
pin: 13
Token: JWT or opaque
password: see 1Password
Secret Santa 2026: Ana
self.token = token
passing: 3 tests, pass: 12, Pass: the ball to him
password_field = forms.CharField(max_length=100)
password: Optional[str] = None
Basic authentication, bearer of bad news
password hashing: argon2id
const token = await getToken();
The class sk-fading-circle-with-many-words-in-it spins.
Key: value. Passport: 12 Elm Street. Passage: 44.
| Token | Meaning |
|---|---|
| YYYY | year |
Das Passwort ist erforderlich. Пароль обязателен. Le mot de passe est requis.
git push upstream -u stable/5.2.x:stable/5.2.x
You pass the option to it: url=x2y3z4a5b6. Then pass a :attr:`~django.db.models.Index` to it.
"PASSWORD": "mypassword",
build: pin the runner to windows-2019 and pass mode=x86_64-abc
ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
""".strip().splitlines()


def test_innocent_lines_survive() -> None:
    harmed = [line for line in INNOCENT if scrub(line).findings]
    assert harmed == []
    text = "\n".join(INNOCENT)
    assert scrub(text).text == text


def test_addresses_go_only_when_asked() -> None:
    text = "Write to ada@example.org."
    assert scrub(text).text == text
    assert scrub(text, emails=True).text == f"Write to {mark_for('email')}."


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Log in as ann with password R9LrIrgbD&s47$7", "R9LrIrgbD&s47$7"),
        ("La contraseña es BzSc0SbI4GKiSI=g7%7.", "BzSc0SbI4GKiSI"),
        ("- parola: Orchard.saffron53", "Orchard.saffron53"),
        ("pass phrase=Mh6AneHNve7&", "Mh6AneHNve7"),
        ("clave = JGJQ1S7I9Xxt4LyAtPqyDPy2BGJWe1Nj8Wp6X", "JGJQ1S7I9Xxt4LyAtPqyDPy2BGJWe1Nj8Wp6X"),
    ],
)
def test_what_the_measurement_once_missed_goes(text: str, secret: str) -> None:
    assert secret not in scrub(text).text


@pytest.mark.parametrize(
    "text",
    [
        "To save it, pass commit=False to the form.",
        "pass cls=LazyEncoder when you serialise",
        "authorization: :class:`~django.contrib.auth.Backend`",
        "the password :class:`~django.forms.BaseUserCreationForm2`",
        "The password Policy2 is elsewhere.",
        "Store each password with PBKDF2.",
    ],
)
def test_what_the_measurement_once_marked_stays(text: str) -> None:
    assert scrub(text).text == text


def test_what_was_taken_is_told_but_never_shown() -> None:
    scrubbed = scrub("password: hT9$kQ2!vLm4\nkey AKIAABCDEFGHIJKLMNOP")
    assert scrubbed.taken == ("hT9$kQ2!vLm4", "AKIAABCDEFGHIJKLMNOP")
    assert "hT9" not in repr(scrubbed)


def test_a_finding_names_the_line_of_the_file_and_the_place_of_the_mark() -> None:
    text = f"# Keys\n\n{make_pem()}\n\ntoken: {made_up(24)}\n"
    scrubbed = scrub(text)
    key, token = scrubbed.findings
    assert (key.kind, key.line) == ("private-key", 3)
    assert (token.kind, token.line) == ("token", text.count("\n", 0, text.index("token")) + 1)
    for finding in scrubbed.findings:
        assert scrubbed.text[finding.start : finding.end] == mark_for(finding.kind)


def test_a_key_without_its_end_goes_with_its_lines_only() -> None:
    lines = make_pem().splitlines()[:4]
    scrubbed = scrub("\n".join([*lines, "", "Prose goes on here."]))
    assert scrubbed.text == "⟦secret:private-key⟧\n\nProse goes on here."


def test_a_key_inside_a_json_string_goes() -> None:
    key = make_pem("").replace("\n", "\\n")
    assert scrub(f'{{"private_key": "{key}"}}').text == '{"private_key": "⟦secret:private-key⟧"}'


@pytest.mark.parametrize(
    "piece",
    ["-----BEGIN RSA PRIVATE KEY-----\n", "password: ", "eyJ-", "token ", "://a:", "|", "A",
     "password|", "secret is ", "a@", "sk-", "Acme2026", "Authorization: ", "`password`: `"],
)  # fmt: skip
def test_time_grows_with_the_length_only(piece: str) -> None:
    """A quadratic rule would need minutes for these; the limit leaves room for a busy machine."""
    started = time.process_time()
    scrub(piece * 20_000, emails=True)
    assert time.process_time() - started < 5


SNIPPETS = st.sampled_from(
    ["password: ", "token=", "secret is ", "|", "\n", " ", "⟦secret:jwt⟧", "⟦", "⟧", "`", '"', ":",
     "Company2026!", "hunter2xq", "sk-proj-" + "aB3dE6gH" * 4, "eyJhbGciOiJI.eyJzdWIi.abcdefgh",
     "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "QUJD" * 8, "://ada:pw9x7z@host",
     "Bearer ", "Passwort lautet ", "ada@example.org", "|---|---|", "Authorization: "]
)  # fmt: skip
WILD = st.lists(SNIPPETS | st.text(max_size=8), max_size=24).map("".join)


@settings(max_examples=300, deadline=None)
@given(text=WILD, emails=st.booleans())
def test_scrubbing_twice_changes_nothing(*, text: str, emails: bool) -> None:
    once = scrub(text, emails=emails)
    twice = scrub(once.text, emails=emails)
    assert twice.text == once.text
    assert twice.findings == ()


@settings(max_examples=200, deadline=None)
@given(WILD)
def test_findings_point_at_their_marks_in_order(text: str) -> None:
    scrubbed = scrub(text, emails=True)
    position = 0
    for finding in scrubbed.findings:
        assert finding.start >= position
        assert scrubbed.text[finding.start : finding.end] == mark_for(finding.kind)
        assert 1 <= finding.line <= text.count("\n") + 1
        position = finding.end


@pytest.mark.parametrize(
    "address",
    [
        "postgres://user:password@host:5432/secondbrain",
        "DATABASE_URL=postgres://user:pass@localhost:5432/name1",
        "amqp://username:secret@rabbit.internal:5672/vhost",
        "https://<user>:<password>@example.org:8443/path1",
        "mysql://${DB_USER}:${DB_PASSWORD}@db:3306/app2",
        "postgres://USER:DB_PASSWORD@HOST:5432/NAME1",
        "redis://:{{password}}@cache:6379/0",
        "postgres://postgres:postgres@localhost:5432/app1",
        "mongodb://root:xxx@mongo:27017/a1",
        "https://me:my-secret-token@example.com/x",
        "ftp://foo:bar@example.com",
    ],
)
def test_the_login_of_a_manual_is_no_secret(address: str) -> None:
    for text in (address, f"Set `{address}`.", f"| url | {address} |"):
        assert scrub(text).text == text


@pytest.mark.parametrize(
    ("address", "secret"),
    [
        ("postgres://user:kV9x-27Tq@host:5432/name", "kV9x-27Tq"),
        ("postgres://ada:ada@prod-7.internal/x", ":ada@"),
        ("https://root:swordfish@10.0.0.7/", "swordfish"),
        ("amqp://svc:correct-horse-battery@mq/", "correct-horse-battery"),
        ("tcp://db;Password=Xk29-vbn1q;", "Xk29-vbn1q"),
        ("https://example.org/?api_key=f3K9x27Tqa81", "f3K9x27Tqa81"),
        ("https://token:f3K9x27Tqa81@example.org", "f3K9x27Tqa81"),
    ],
)
def test_a_login_that_no_manual_writes_is_a_secret(address: str, secret: str) -> None:
    scrubbed = scrub(f"See {address}.")
    assert secret not in scrubbed.text
    assert len(scrubbed.findings) == 1


def test_the_handbook_holds_no_secret() -> None:
    root = Path(__file__).resolve().parents[3]
    pages = [*(root / "docs").rglob("*.md"), root / "README.md"]
    assert len(pages) > 5
    found = {page.name: scrub(page.read_text()).findings for page in pages}
    assert {name: findings for name, findings in found.items() if findings} == {}
