"""Icons and small things every template may use: `{% load look %}`."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

# Drawn on a 20 x 20 grid with a 1.5 line; the name says what it is for, not what it shows.
ICONS: dict[str, str] = {
    "ask": "M3.5 4.5h13v9h-7l-3.5 3v-3h-2.5zM7 8h6M7 10.5h4",
    "search": "M8.75 14a5.25 5.25 0 1 0 0-10.5 5.25 5.25 0 0 0 0 10.5zM12.6 12.6l4.1 4.1",
    "vaults": "M3 5.5 10 3l7 2.5v9L10 17l-7-2.5zM3 5.5 10 8l7-2.5M10 8v9",
    "note": "M5 2.75h6.5L15.5 7v10.25H5zM11.25 3v4.25h4M7.75 10.5h5M7.75 13.5h5",
    "folder": "M2.75 5h5l1.75 2h7.75v8.5H2.75z",
    "add": "M10 4v12M4 10h12",
    "menu": "M3.5 5.5h13M3.5 10h13M3.5 14.5h13",
    "close": "m5 5 10 10M15 5 5 15",
    "sources": "M3 4h14v12H3zM12 4v12",
    "settings": "M3 6h7M14 6h3M3 14h3M10 14h7M12 4.25v3.5M8 12.25v3.5",
    "theme": "M10 3a7 7 0 1 0 0 14zM10 3a7 7 0 0 1 0 14",
    "copy": "M7 7h9.5v9.5H7zM4.5 13H3.5V3.5H13v1",
    "check": "m4 10.5 4 4 8-9",
    "again": "M15.8 7.5A6.4 6.4 0 1 0 16.4 11M16.2 3.5v4h-4",
    "send": "M10 16V4.5M5 9.25l5-5 5 5",
    "stop": "M6 6h8v8H6z",
    "down": "M10 4v11.5M5 10.75l5 5 5-5",
    "open-list": "m5.5 8 4.5 4.5L14.5 8",
    "pin": "M7 3.5h6l-.75 5.25 2.5 2.5v1.25H5.25v-1.25l2.5-2.5zM10 12.5V17",
    "archive": "M3 4.5h14v3.5H3zM4.25 8v8h11.5V8M8 11h4",
    "share": "M10 12.5V3.5M6.5 6.75 10 3.25l3.5 3.5M5.5 9.5H4v7h12v-7h-1.5",
    "temporary": "M5.5 3.5h9M5.5 16.5h9M6.5 3.5c0 4 2.5 4.5 3.5 6.5-1 2-3.5 2.5-3.5 6.5"
    "M13.5 3.5c0 4-2.5 4.5-3.5 6.5 1 2 3.5 2.5 3.5 6.5",
    "next": "m8 5.5 4.5 4.5L8 14.5",
    "rename": "M4 16l.75-3.5 8.5-8.5 2.75 2.75-8.5 8.5zM11.5 5.75l2.75 2.75",
    "delete": "M4 5.75h12M8 5.5V3.5h4v2M5.5 5.75l.75 11h7.5l.75-11M8.5 9v4.5M11.5 9v4.5",
    "outside": "M8 4.5H4v11.5h11.5v-4M11.5 3.75h4.75V8.5M16 4 9.5 10.5",
    "info": "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 9.25v4.25M10 6.25v.5",
    "warning": "M10 3.25 17.5 16.5h-15zM10 8v4M10 14.25v.5",
    "keyboard": "M2.5 5.5h15v9h-15zM5.5 8.5h.5M8.5 8.5h.5M11.5 8.5h.5M14.5 8.5h.5M6.5 11.75h7",
    "sign-out": "M8 3.5H4v13h4M8.5 10H17M13.5 6.5 17 10l-3.5 3.5",
    "admin": "M10 3 4 5.25V10c0 3.5 2.5 5.75 6 7 3.5-1.25 6-3.5 6-7V5.25z",
    "lock": "M5 9h10v7.5H5zM7 9V6.5a3 3 0 0 1 6 0V9",
    "clock": "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 6v4.25l2.75 1.75",
    "link": "M8.5 11.5l3-3M9 6l1.75-1.75a3.5 3.5 0 0 1 5 5L14 11"
    "M11 14l-1.75 1.75a3.5 3.5 0 0 1-5-5L6 9",
    "more": "M5 10h.01M10 10h.01M15 10h.01",
    "upload": "M10 13.5V4M6 7.5 10 3.5l4 4M3.5 13v3.5h13V13",
    "download": "M10 3.5V13M6 9.5l4 4 4-4M3.5 13v3.5h13V13",
    "people": "M7.5 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2 16.5c0-3 2.5-4.75 5.5-4.75S13 13.5 13 16.5"
    "M13 3.75a3 3 0 0 1 0 5.5M15 12.25c2 .75 3 2.25 3 4.25",
    "thumb-up": "M6.5 9 10 3.5c1.2 0 1.9.8 1.7 2l-.5 2.7h4.1c1 0 1.6.8 1.4 1.7l-1.2 5.2"
    "c-.2.8-.8 1.4-1.7 1.4H6.5zM3.5 9h3v7.5h-3z",
    "thumb-down": "M6.5 11 10 16.5c1.2 0 1.9-.8 1.7-2l-.5-2.7h4.1c1 0 1.6-.8 1.4-1.7l-1.2-5.2"
    "c-.2-.8-.8-1.4-1.7-1.4H6.5zM3.5 11h3V3.5h-3z",
    "usage": "M3.5 16.5h13M5.5 13.5v-4M10 13.5v-9M14.5 13.5v-6",
    "filter": "M3 5h14M6 10h8M8.5 15h3",
    "tag": "M3.5 3.5h6l7 7-6 6-7-7zM7 7h.01",
    "person": "M10 10a3.25 3.25 0 1 0 0-6.5A3.25 3.25 0 0 0 10 10z"
    "M3.5 17c.5-3 3-4.75 6.5-4.75S16 14 16.5 17",
}


@register.simple_tag
def icon(name: str, label: str = "") -> SafeString:
    """The inline SVG called `name`: decorative, or named `label` for screen readers.

    KeyError for a name that is not in ICONS: a page must not ship with a hole.
    """
    named = format_html('role="img" aria-label="{}"', label) if label else 'aria-hidden="true"'
    path = mark_safe(ICONS[name])  # noqa: S308 -- our own constant
    return format_html(
        '<svg class="icon" viewBox="0 0 20 20" width="20" height="20" {}><path d="{}"/></svg>',
        mark_safe(named),  # noqa: S308 -- the label was escaped by format_html
        path,
    )


@register.filter
def initials(name: object) -> str:
    """Two letters that stand for a person: "Ada Lovelace" -> AL, "ada@example.com" -> AD."""
    words = str(name).split("@")[0].replace(".", " ").replace("_", " ").split()
    if not words:
        return "?"
    letters = words[0][0] + words[-1][0] if len(words) > 1 else words[0][:2]
    return letters.upper()


@register.simple_tag(takes_context=True)
def theme(context: template.Context) -> str:
    """The theme this reader forced ("light" or "dark"), or "" for the system's.

    Read from the cookie on the server, so the first paint is already right.
    """
    request = context.get("request")
    chosen = request.COOKIES.get("theme", "") if request is not None else ""
    return chosen if chosen in {"light", "dark"} else ""
