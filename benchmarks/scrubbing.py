"""How many secrets the scrubber finds, and how much it takes for one that is none.

    python benchmarks/scrubbing.py [--each 100] [--prose FOLDER …]

Secrets are made up from a fixed seed, `--each` of every kind, each in a note of its own
between ordinary sentences. Each kind of text that only looks like a secret is made in the
same number. `--prose` names folders of Markdown, or files of JSON lines with a `text`, that
hold no live secrets: what is marked there is counted per 1,000 notes and shown.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import string
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from vault.core.scrub import scrub

LETTERS, DIGITS = string.ascii_letters, string.digits
ALNUM = LETTERS + DIGITS
HEX = "0123456789abcdef"
SYMBOLS = "!@#$%&*+=?"
SENTENCES = (
    "We moved the service on Monday.", "Ask Ann before you change anything here.",
    "Das Team trifft sich am Freitag.", "Собрание прошло без замечаний.",
    "La reunión fue corta.", "数据在夜里同步。",
)  # fmt: skip
WORDS = [
    "heron",
    "copper",
    "ladle",
    "orchard",
    "violet",
    "harbour",
    "cinder",
    "maple",
    "saffron",
    "tundra",
]
# How people write "password" beside its value.
LABELS = (
    "password", "Password", "passwd", "pwd", "pass phrase", "Passwort", "Kennwort", "пароль",
    "Пароль", "contraseña", "mot de passe", "senha", "hasło", "wachtwoord", "lösenord", "密码",
    "パスワード", "비밀번호", "parola", "şifre", "mật khẩu",
)  # fmt: skip
KEY_LABELS = (
    "api_key", "API key", "apikey", "secret", "client_secret", "token", "access token",
    "auth_token", "private_key", "SECRET_KEY", "DB_PASSWORD", "токен", "секретный ключ",
    "clave", "API-Schlüssel", "jeton",
)  # fmt: skip

Made = Callable[[random.Random], tuple[str, str]]
"""A text, and the secret in it; for a look-alike the second is empty."""


def chars(pick: random.Random, alphabet: str, count: int) -> str:
    return "".join(pick.choices(alphabet, k=count))


def strong(pick: random.Random) -> str:
    """A password of a manager: 12 to 20 characters of every sort."""
    body = chars(pick, ALNUM + SYMBOLS, pick.randint(9, 17))
    return f"{pick.choice(LETTERS)}{body}{pick.choice(DIGITS)}{pick.choice('!$%&')}"


def human(pick: random.Random) -> str:
    """A password somebody thought of: two words and a number."""
    first, second = pick.sample(WORDS, 2)
    return f"{first.title()}{pick.choice('-_!.')}{second}{pick.randint(10, 99)}"


def key(pick: random.Random) -> str:
    return chars(pick, ALNUM, pick.randint(24, 40))


def labelled(pick: random.Random) -> tuple[str, str]:
    value = strong(pick)
    sign = pick.choice((": ", " = ", "=", ": `", ': "'))
    closing = {"`": "`", '"': '"'}.get(sign[-1], "")
    return f"- {pick.choice(LABELS)}{sign}{value}{closing}", value


def labelled_human(pick: random.Random) -> tuple[str, str]:
    value = human(pick)
    return f"{pick.choice(LABELS)}: {value}", value


def labelled_word(pick: random.Random) -> tuple[str, str]:
    value = pick.choice(WORDS)
    return f"- {pick.choice(('Password', 'password', 'Passwort', 'Пароль'))}: {value}", value


def labelled_key(pick: random.Random) -> tuple[str, str]:
    value = key(pick)
    return f"{pick.choice(KEY_LABELS)}{pick.choice((': ', '=', ' = '))}{value}", value


def in_json(pick: random.Random) -> tuple[str, str]:
    value = key(pick)
    name = pick.choice(("apiKey", "client_secret", "password", "accessToken", "dbPassword"))
    return f'```json\n{{"host": "db1", "{name}": "{value}"}}\n```', value


def in_shell(pick: random.Random) -> tuple[str, str]:
    value = key(pick)
    name = pick.choice(("API_KEY", "DB_PASSWORD", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY"))
    return f"```sh\nexport {name}={value}\n```", value


def in_cell(pick: random.Random) -> tuple[str, str]:
    value = strong(pick).replace("|", "x")
    if pick.random() < 0.5:
        return f"| User | Password |\n|---|---|\n| ann | {value} |", value
    return f"| Host | db1 |\n|---|---|\n| Passwort | {value} |", value


PROSE = (
    "The password is {}.", "the password for the router is {}", "my password: {}, keep it",
    "Das Passwort lautet {}.", "Das Passwort ist {}.", "Пароль от сервера: {}",
    "La contraseña es {}.", "Le mot de passe est {}.", "Log in as ann with password {}",
    "the wifi password was changed to {}", "A senha é {}.",
)  # fmt: skip


def in_prose(pick: random.Random) -> tuple[str, str]:
    value = strong(pick).rstrip("!") + "7"
    return pick.choice(PROSE).format(value), value


def header(pick: random.Random) -> tuple[str, str]:
    value = key(pick)
    basic = base64.b64encode(f"ann:{value}".encode()).decode()
    made = pick.choice(
        (
            ("Authorization: Bearer {}", value),
            ("Authorization: Basic {}", basic),
            ('curl -H "Authorization: token {}" https://api.example.com', value),
            ("X-Api-Key: {}", value),
            ("curl -u ann:{} https://api.example.com", value),
        )
    )
    return made[0].format(made[1]), made[1]


def address(pick: random.Random) -> tuple[str, str]:
    value = chars(pick, ALNUM, pick.randint(10, 20))
    scheme = pick.choice(("postgres", "https", "redis", "mongodb+srv", "amqp"))
    return f"{scheme}://ann:{value}@db1.corp.net:5432/app", value


def vendor(pick: random.Random) -> tuple[str, str]:
    made = pick.choice(
        (
            "sk-ant-api03-" + chars(pick, ALNUM + "-_", 60),
            "sk-proj-" + chars(pick, ALNUM, 48),
            "AKIA" + chars(pick, string.ascii_uppercase + DIGITS, 16),
            "ghp_" + chars(pick, ALNUM, 36),
            "glpat-" + chars(pick, ALNUM, 20),
            "xoxb-" + chars(pick, DIGITS, 12) + "-" + chars(pick, ALNUM, 24),
            "AIza" + chars(pick, ALNUM, 35),
            "sk_live_" + chars(pick, ALNUM, 24),
            "SG." + chars(pick, ALNUM, 22) + "." + chars(pick, ALNUM, 43),
            "hf_" + chars(pick, LETTERS, 34),
            "npm_" + chars(pick, ALNUM, 36),
            "dop_v1_" + chars(pick, HEX, 64),
        )
    )
    return f"The key of the bot, {made}, expires in May.", made


def private_key(pick: random.Random) -> tuple[str, str]:
    kind = pick.choice(("RSA ", "EC ", "OPENSSH ", ""))
    lines = [chars(pick, ALNUM + "+/", 64) for _ in range(pick.randint(4, 20))]
    body = "\n".join(lines)
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----", lines[1]


def web_token(pick: random.Random) -> tuple[str, str]:
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    body = json.dumps({"sub": str(pick.randint(1, 10**9)), "name": "Ann"}).encode()
    claims = base64.urlsafe_b64encode(body).decode().rstrip("=")
    token = f"{head}.{claims}.{chars(pick, ALNUM + '-_', 43)}"
    return f"It sends `{token}` each time.", token


def company(pick: random.Random) -> tuple[str, str]:
    value = f"{pick.choice(WORDS).title()}{pick.choice(('', '@', '-'))}{pick.randint(2015, 2027)}!"
    return f"The guest account opens with {value} for now.", value


SECRETS: dict[str, Made] = {
    "label: strong value": labelled,
    "label: words and a number": labelled_human,
    "label: one plain word": labelled_word,
    "label: key": labelled_key,
    "JSON": in_json,
    "shell": in_shell,
    "table cell": in_cell,
    "the password is …": in_prose,
    "HTTP header, curl": header,
    "address with password": address,
    "key of a vendor": vendor,
    "private key": private_key,
    "JSON Web Token": web_token,
    "Company2026!": company,
}


def one_of(*texts: str) -> Made:
    return lambda pick: (pick.choice(texts), "")


LOOK_ALIKES: dict[str, Made] = {
    "commit id": lambda pick: (f"Fixed in {chars(pick, HEX, 40)}, see {chars(pick, HEX, 7)}.", ""),
    "digest": lambda pick: (f"sha256: {chars(pick, HEX, 64)}", ""),
    "UUID": lambda pick: (
        "id: " + "-".join(chars(pick, HEX, n) for n in (8, 4, 4, 4, 12)), ""
    ),
    "base64 image": lambda pick: (
        f"![](data:image/png;base64,{chars(pick, ALNUM + '+/', 400)})", ""
    ),
    "placeholder": one_of(
        "password: <your password>", "api_key: YOUR_API_KEY", "token = ${TOKEN}", "pwd: ********",
        "API_KEY=changeme", "secret: xxxxxxxxxxxxxxxx", "password: {{ vault.password }}",
        "postgres://user:password@localhost/app", "Authorization: Bearer <token>",
        "export GITHUB_TOKEN=…", "пароль: <пароль>", "password=$DB_PASSWORD",
    ),
    "program": one_of(
        "password = request.POST['password']", "token = get_token(user)", "secret: str | None",
        "const apiKey = process.env.API_KEY;", "if password == stored_password:",
        "self.token = Token.objects.create(user=user)", "def check_password(password: str) -> bool",
        "password = models.CharField(max_length=128)", "key = lambda row: row.name",
        "api_key: os.environ['KEY']", "token_count = len(tokens)", "max_tokens: 4096",
    ),
    "prose about passwords": one_of(
        "The password must have twelve characters.", "Reset the password in the settings.",
        "Your password is required to continue.", "Passwords are stored as hashes.",
        "A token is valid for 30 days.", "The secret is to begin early.", "Password: required",
        "Das Passwort ist abgelaufen.", "Пароль должен быть длинным.", "The key is under the mat.",
        "La contraseña es obligatoria.", "token: the smallest unit of text",
        "Password policy: see [[Security]]", "The password is case-sensitive.",
    ),
    "numbers and names": one_of(
        "Invoice INV/2026/00037 of 2026-03-01", "CVE-2021-3281 in Django 3.1.6", "#hashtag2026",
        "Version v2.31.4-beta.2+build.77", "Phone: +49 30 1234567", "ISBN 978-3-16-148410-0",
        "Room key: B-204", "session 2026!", "OKR2026 kickoff", "IBAN DE89370400440532013000",
    ),
    "address without password": one_of(
        "https://example.com:8443/a?b=c@d", "ssh://git@github.com/team/repo.git", "ann@example.com",
        "https://example.com/reset?token_type=bearer", "http://localhost:8000/@ann",
    ),
}  # fmt: skip


def in_a_note(pick: random.Random, text: str) -> str:
    before, after = pick.sample(SENTENCES, 2)
    return f"# {pick.choice(WORDS).title()}\n\n{before}\n\n{text}\n\n{after}\n"


def recall(each: int) -> Iterator[tuple[str, int, list[str]]]:
    """(kind, how many were found, some that were not)."""
    for kind, make in SECRETS.items():
        pick = random.Random(kind)
        missed = []
        for _ in range(each):
            text, secret = make(pick)
            if secret in scrub(in_a_note(pick, text)).text:
                missed.append(text)
        yield kind, each - len(missed), missed


def false_marks(each: int) -> Iterator[tuple[str, int, list[str]]]:
    """(kind, notes with a mark, some of what was marked)."""
    for kind, make in LOOK_ALIKES.items():
        pick = random.Random(kind)
        texts = [make(pick)[0] for _ in range(each)]
        marked = [text for text in texts if scrub(in_a_note(pick, text)).findings]
        yield kind, len(marked), marked


def prose_of(places: list[Path]) -> Iterator[tuple[str, str]]:
    """(name, text) of every note in the places."""
    for place in places:
        if place.is_dir():
            for path in sorted(place.rglob("*.md")):
                yield str(path), path.read_text(encoding="utf-8", errors="replace")
        else:
            for line in place.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                yield str(row.get("_id", "")), f"{row.get('title', '')}\n\n{row['text']}"


def report_prose(places: list[Path]) -> None:
    notes = size = marked = 0
    shown: list[str] = []
    began = time.process_time()
    for name, text in prose_of(places):
        notes, size = notes + 1, size + len(text)
        found = scrub(text)
        marked += bool(found.findings)
        for finding, value in zip(found.findings, found.taken, strict=True):
            shown.append(f"  {finding.kind}: {value[:40]!r} in {name}")
    seconds = time.process_time() - began
    share = 1000 * marked / notes if notes else 0.0
    print(
        f"\nprose: {marked} of {notes:,} notes have a mark ({share:.2f} per 1,000), "
        f"{size / 1e6 / max(seconds, 1e-9):.1f} million characters a second"
    )
    print("\n".join(shown[:40]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--each", type=int, default=100)
    parser.add_argument("--prose", type=Path, nargs="*", default=[])
    parser.add_argument("--show", type=int, default=3, help="examples of each fault")
    options = parser.parse_args()
    total = 0
    for kind, found, missed in recall(options.each):
        total += found
        print(f"{kind:28} {found / options.each:7.1%} found")
        for text in missed[: options.show]:
            print(f"    missed: {text[:90]!r}")
    print(f"{'all':28} {total / options.each / len(SECRETS):7.1%} found\n")
    for kind, count, marked in false_marks(options.each):
        print(f"{kind:28} {1000 * count / options.each:7.1f} marked per 1,000")
        for text in marked[: options.show]:
            print(f"    marked: {text[:90]!r}")
    if options.prose:
        report_prose(options.prose)


if __name__ == "__main__":
    main()
