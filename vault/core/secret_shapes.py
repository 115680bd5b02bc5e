"""Tables of what secrets look like: vendor keys, labels, and what only looks like a secret.

Every pattern begins at the edge of a word and has no nested repetition, so matching is
linear in the length of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# A key begins where no key character stands before it: without this, each of n starts
# inside one long run would scan the run again.
_EDGE = r"(?<![A-Za-z0-9_-])"


@dataclass(frozen=True, slots=True)
class Shape:
    """A key of one vendor. `hints` are literals of which every match holds at least one."""

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]


def _shape(kind: str, pattern: str, *hints: str) -> Shape:
    return Shape(kind, hints, re.compile(_EDGE + pattern, re.ASCII))


VENDOR_SHAPES: tuple[Shape, ...] = (
    _shape("anthropic-key", r"sk-ant-[\w-]{16,}", "sk-ant-"),
    _shape("openrouter-key", r"sk-or-[\w-]{20,}", "sk-or-"),
    _shape("openai-key", r"sk-(?:proj|svcacct|admin)-[\w-]{16,}|sk-[A-Za-z0-9]{20,}", "sk-"),
    _shape("aws-key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
           "AKIA", "ASIA", "ABIA", "ACCA"),
    _shape("github-token", r"gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{22,}",
           "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    _shape("gitlab-token", r"gl(?:pat|dt|rt|oas|ft|ptt|soat|agent|cbt)-[\w-]{20,}", "gl"),
    _shape("slack-token", r"xox[abceoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}",
           "xox", "xapp-"),
    _shape("google-key", r"AIza[\w-]{35}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}",
           "AIza", "ya29.", "GOCSPX-"),
    _shape("stripe-key", r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{24,}=*",
           "k_live_", "k_test_", "whsec_"),
    _shape("sendgrid-key", r"SG\.[\w-]{16,32}\.[\w-]{16,64}", "SG."),
    _shape("mailgun-key", r"key-[0-9a-f]{32}(?![0-9a-f])", "key-"),
    _shape("mailchimp-key", r"[0-9a-f]{32}-us\d{1,2}(?!\d)", "-us"),
    _shape("twilio-key", r"SK[0-9a-f]{32}(?![0-9a-f])", "SK"),
    _shape("npm-token", r"npm_[A-Za-z0-9]{30,}", "npm_"),
    _shape("pypi-token", r"pypi-[\w-]{50,}", "pypi-"),
    _shape("rubygems-key", r"rubygems_[0-9a-f]{40,}", "rubygems_"),
    _shape("huggingface-token", r"hf_[A-Za-z0-9]{30,}", "hf_"),
    _shape("model-api-key",
           r"(?:gsk_|pplx-|xai-|r8_|tgp_v1_|nvapi-|fw_|jina_|dapi)[A-Za-z0-9_-]{30,}",
           "gsk_", "pplx-", "xai-", "r8_", "tgp_v1_", "nvapi-", "fw_", "jina_", "dapi"),
    _shape("azure-key", r"(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{40,}={0,2}",
           "AccountKey=", "SharedAccessKey="),
    _shape("digitalocean-token", r"do[opr]_v1_[0-9a-f]{40,}", "_v1_"),
    _shape("telegram-token", r"\d{8,10}:AA[\w-]{32,34}", ":AA"),
    _shape("notion-token", r"(?:secret_|ntn_)[A-Za-z0-9]{40,}", "secret_", "ntn_"),
    _shape("linear-key", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}", "lin_"),
    _shape("shopify-token", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}", "shp"),
    _shape("square-token", r"sq0(?:atp|csp|idp)-[\w-]{22,}|EAAA[\w-]{60}", "sq0", "EAAA"),
    _shape("atlassian-token", r"ATATT3[\w=-]{50,}", "ATATT3"),
    _shape("sentry-token", r"sntry[su]_[\w+/=-]{40,}", "sntry"),
    _shape("grafana-token", r"gl(?:sa|c)_[\w+/=]{32,}", "glsa_", "glc_"),
    _shape("newrelic-key", r"NRAK-[A-Z0-9]{20,}", "NRAK-"),
    _shape("vault-token", r"hv[sbr]\.[\w-]{24,}", "hvs.", "hvb.", "hvr."),
    _shape("supabase-key", r"sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,}", "sbp_", "sb_secret_"),
    _shape("docker-token", r"dckr_pat_[\w-]{20,}", "dckr_pat_"),
    _shape("tailscale-key", r"tskey-[a-z]{2,12}-[\w-]{16,}", "tskey-"),
    _shape("postman-key", r"PMAK-[0-9a-f-]{40,}", "PMAK-"),
    _shape("figma-token", r"fig[duo]_[\w-]{30,}", "figd_", "figu_", "figo_"),
    _shape("doppler-token", r"dp\.(?:pt|st|ct|sa)\.[\w.-]{40,}", "dp."),
    _shape("age-key", r"AGE-SECRET-KEY-1[0-9A-Z]{40,}", "AGE-SECRET-KEY-1"),
    _shape("airtable-token", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}", "pat"),
    _shape("secondbrain-token", r"sb_[\w-]{43}(?![\w-])", "sb_"),
    _shape("webhook-url",
           r"https://hooks\.slack\.com/(?:services|workflows)/[\w/-]{20,}"
           r"|https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/\d{10,}/[\w-]{30,}",
           "hooks.slack.com/", "/api/webhooks/"),
)  # fmt: skip

# A JSON Web Token: three parts (five when encrypted), the first a base64 of `{"`.
JWT = re.compile(_EDGE + r"eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*){1,3}", re.ASCII)

PEM_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
PEM_END = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
# What follows a BEGIN whose END is missing: key lines, headers, and one empty line between.
PEM_LINE = re.compile(
    r"[ \t>|\"']{0,20}(?:(?P<key>(?:[A-Za-z0-9+/=]|\\n){16,}|[A-Za-z0-9+/]{0,15}={1,2})"
    r"|(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): [^\n]{0,200})?"
    r"[ \t\"',\\]{0,20}\r?(?:\n|$)"
)
PEM_BODY = re.compile(r"[A-Za-z0-9+/=]{20,}")

# `scheme://user:password@host`; only the password goes.
URL_PASSWORD = re.compile(
    r"://(?P<user>[^\s/:@⟦⟧\"'<>`|]{0,100}):(?P<value>[^\s/@⟦⟧\"'<>`|]{1,200})@(?=[\w\[$\{])"
)

# The part of an address before its host: labels in it are the words of an example.
URL_LOGIN = re.compile(r"://[^\s/?#@;&=⟦⟧\"'|]{0,200}@(?=[\w\[$\{<])")
# Hosts of manuals: there a password that repeats the user (`postgres:postgres`) is a default.
_EXAMPLE_HOST = re.compile(
    r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]|host(?:name)?|server|db|database|postgres|"
    r"redis|rabbitmq|mysql|mongo|(?:[\w-]+\.)*example(?:\.\w+)?|[\w.-]+\.(?:test|invalid))(?![\w.-])",
    re.IGNORECASE,
)
_EXAMPLES = """
    foo bar baz qux my the some db database sql app api new old super top word passw0rd p4ssw0rd
    p4ssword p@ssw0rd s3cret s3cr3t mysecret topsecret changeit hunter2 letmein guest abc xyz
    123 1234 12345 123456 postgres mysql
"""
_EXAMPLE_WORDS = frozenset(_EXAMPLES.split())


def is_example_login(user: str, value: str, host: str) -> bool:
    """Whether `user:value@host` of an address is what a manual writes there."""
    if PLACEHOLDER.search(value) or PLACEHOLDER.search(user) or len(set(value)) < 2:
        return True
    words = [word for word in re.split(r"[_.-]", value.lower()) if word]
    if all(word in ORDINARY_WORDS or word in _EXAMPLE_WORDS for word in words):
        return True
    return value.lower() == user.lower() and _EXAMPLE_HOST.match(host) is not None


# `Company2026!`, `Acme-2026!`, `Acme@2026`, `2026Acme!`. Not `#hashtag2026!`.
_NAME = r"[^\W\d_]{3,30}"
_YEAR = r"(?:19|20)\d{2}"
YEAR = re.compile(_YEAR)
YEAR_PASSWORD = re.compile(
    rf"(?<![\w#@/.⟦:-])(?:{_NAME}[-_.@#$%&*+]?{_YEAR}[!@#$%&*+][!@#$%&*+\w]{{0,20}}"
    rf"|{_NAME}[@$%&*!]{_YEAR}(?!\w)|{_YEAR}{_NAME}[!@#$%&*+][!@#$%&*+\w]{{0,20}})"
)

EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")

# Labels by what they announce. A password may be a plain word; a token never is.
_PASSWORD_WORDS = (
    "password", "passwd", "passphrase", "pass phrase", "passcode", "pass word", "pass-phrase",
    "passwort",
    "kennwort", "mot de passe", "contraseña", "contrasena", "clave de acceso",
    "senha", "palavra-passe", "parola d'ordine", "wachtwoord", "lösenord", "adgangskode",
    "passord", "salasana", "hasło", "heslo", "jelszó", "parolă", "şifre",
    "пароль", "пароля", "паролем", "парол", "лозинка", "κωδικός πρόσβασης",
    "סיסמה", "كلمة المرور", "كلمة السر", "पासवर्ड", "รหัสผ่าน", "mật khẩu", "kata sandi",
    "密码", "密碼", "口令", "パスワード", "暗証番号", "비밀번호", "암호",
)  # fmt: skip
_KEY_WORDS = (
    "api key", "api-key", "api_key", "apikey", "api secret", "api_secret", "secret key",
    "secret-key", "secret_key", "secretkey", "secret access key", "secret_access_key",
    "secretaccesskey", "access key", "access_key", "accesskey", "access-key", "private key",
    "private_key", "privatekey", "encryption key", "encryption_key", "signing key",
    "signing_key", "client secret", "client_secret", "client-secret", "clientsecret",
    "account key", "account_key", "accountkey", "auth key", "auth_key", "authkey",
    "credential", "credentials", "bearer", "access token", "access_token", "accesstoken",
    "refresh token", "refresh_token", "auth token", "auth_token", "authtoken", "api token",
    "api_token", "geheimnis", "zugangsdaten", "api-schlüssel", "schlüssel", "zugriffstoken",
    "секрет", "секретный ключ", "ключ api", "api-ключ", "токен", "ключ доступа",
    "clé api", "clé secrète", "jeton", "clave api", "clave secreta", "chave api",
    "chave secreta", "chiave api", "klucz api", "密钥", "密鑰", "令牌", "秘密鍵", "トークン",
    "토큰", "비밀키",
)  # fmt: skip
# Short words that also end other words: only at the start of a word or of a camelCase part.
_SHORT_PASSWORD_WORDS = ("pass", "pwd", "pw", "psw", "pin", "parola")
_SHORT_KEY_WORDS = ("token", "secret", "clave")


@dataclass(frozen=True, slots=True)
class LabelWord:
    """A word that announces a secret. A short one counts only as a word of its own."""

    word: str
    is_password: bool
    is_short: bool

    @property
    def kind(self) -> str:
        """What the secret is called in findings."""
        if self.is_password:
            return "password"
        for part, kind in (("token", "token"), ("токен", "token"), ("key", "api-key")):
            if part in self.word:
                return kind
        return "secret"


LABEL_WORDS: tuple[LabelWord, ...] = (
    *(LabelWord(word, is_password=True, is_short=False) for word in _PASSWORD_WORDS),
    *(LabelWord(word, is_password=False, is_short=False) for word in _KEY_WORDS),
    *(LabelWord(word, is_password=True, is_short=True) for word in _SHORT_PASSWORD_WORDS),
    *(LabelWord(word, is_password=False, is_short=True) for word in _SHORT_KEY_WORDS),
)

# Between a label and its value: closing marks, a short remark, a sign or a verb.
_CLOSING = r"[\"'`*_\])}»”]{0,4}"
_VERBS = (
    r"is now|is|was|are|set to|changed to|equals|ist|lautet|war|heißt|est|était|es|fue|era|è|é|"
    r"to|jest|je|var|är|er|on|это|был|теперь|—|–|は|是|为|為|는|은|là|adalah"
)
SEPARATOR = re.compile(
    rf"(?P<suffix>[\w-]{{0,24}}){_CLOSING}"
    rf"(?P<remark>[ \t]{{0,3}}(?:\([^()\n⟦⟧]{{0,60}}\)|[^\s:=|⟦⟧,.;?!\"'`()]{{1,24}}"
    rf"(?:[ \t][^\s:=|⟦⟧,.;?!\"'`()]{{1,24}}){{0,4}}?)??)"
    rf"[ \t]{{0,4}}{_CLOSING}"
    rf"(?:(?P<sign>:=|=>|->|={{1,3}}|[:：＝])|(?P<verb>(?<![^\W_])(?:{_VERBS})(?![^\W_])|[は是为為는은]))",
    re.IGNORECASE,
)
BREAK = re.compile(
    r"[*_ \t]{0,6}(?P<newline>\r?\n\s{0,20}(?:[>\-*+][ \t]|`{3,}\w{0,12}\r?\n[ \t]{0,12}){0,2})?"
)

# A suffix that makes the label speak of something else.
OTHER_SUBJECT = re.compile(
    r"[_-]?(?:name|ids?|type|ur[li]|endpoint|path|file|field|length|len|count|limit|policy|hint|"
    r"reset|expir\w*|ttl|date|format|algorithm|version|strength|manager|rotation|budget|usage|s)$",
    re.IGNORECASE,
)

# What a template, a schema or a text about secrets writes in their place.
PLACEHOLDER = re.compile(
    r"your|my.?pass|example|sample|change.?me|change.?this|placeholder|dummy|redacted|insert|replace|"
    r"goes.?here|\bhere\b|x{4,}|\*{3,}|•{2,}|\.{3}|…|^[<\[{(]|^\$[{(]|^\$[A-Z_](?!(?:\w*\d){3})\w*$|"
    r"^%(?:\w+%|\(\w+\)s?)$|\$\{|\{\{|"
    r"^:?[a-z]+:`|^https?://|^\.{0,2}/[\w/.-]*$|^password[12]$",
    re.IGNORECASE,
)
# An expression of a program, where no quote says that it is a value.
EXPRESSION = re.compile(
    r"[\w\]]\(|\w\[|environ|getenv|^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$|^&?[a-z_]+_[a-z_]+$|^\$\w+$|::"
)

# What stands behind a label in documentation, schemas and templates.
_ORDINARY = """
    password passwd passphrase passcode pass pwd pw pin passwort kennwort пароль secret secrets
    token tokens key keys apikey api_key credential credentials bearer basic digest none null nil
    undefined true false yes no on off string str text char varchar int integer number bytes bool
    boolean object array any required optional mandatory needed empty blank hidden missing unknown
    unset default defaults test testing todo tbd na n/a same see ask above below wrong invalid
    incorrect correct expired changed reset stored encrypted hashed plain plaintext strong weak
    user username email login admin root value name type field input 1password bitwarden keepass
    keepassxc lastpass dashlane keychain vault env file manager oauth2 oauth base64 base64url
    sha1 sha256 sha512 md5 bcrypt argon2 argon2id scrypt pbkdf2 hs256 rs256 es256 aes256 utf8 utf-8
    hex http1 http2 ipv4 ipv6 x509 ed25519 rsa2048 rsa4096 e2e s3 oidc saml2 totp hotp
    обязательно нет да неверный erforderlich keine keins siehe falsch requis requerido
"""
ORDINARY_WORDS = frozenset(_ORDINARY.split())

# Hyphenated prose: `base64-encoded`, `8-20`, `128-bit`, `OAuth2-based`.
HYPHENATED_PROSE = re.compile(
    r"\w*-(?:encoded|encrypted|based|bits?|hashed|only|protected|style|digits?|characters?|chars?|"
    r"days?|letters?|signed|compatible|hours?|minutes?|seconds?)\b|^\d+(?:[-–.:/]\d+)+\w{0,2}$",
    re.IGNORECASE,
)
