"""Reads HTML as a browser would, for what the tests want to know of it."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"br", "hr", "img"}
LIVE = {"script", "iframe", "object", "embed", "svg", "style", "link", "meta", "base", "form",
        "input", "button", "video", "audio", "source", "template", "noscript"}  # fmt: skip


class Page(HTMLParser):
    """What a piece of HTML holds: text, elements, cited text, and whatever could act."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.cited = ""
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open: list[tuple[str, dict[str, str]]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = (tag, {name: value or "" for name, value in attrs})
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        self.text += data
        if any("cited" in attrs.get("class", "").split() for _, attrs in self.open):
            self.cited += data

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attrs for name, attrs in self.elements if name == tag]

    def with_class(self, css: str) -> list[dict[str, str]]:
        return [attrs for _, attrs in self.elements if css in attrs.get("class", "").split()]

    @property
    def live(self) -> list[str]:
        """Whatever could run, load from elsewhere, or style itself."""
        found = [tag for tag, _ in self.elements if tag in LIVE]
        for tag, attrs in self.elements:
            for name, value in attrs.items():
                folded = "".join(value.split()).lower()
                if name.startswith("on") or name in {"style", "srcdoc", "formaction"}:
                    found.append(f"{tag}[{name}]")
                if folded.startswith(("javascript:", "data:", "vbscript:")):
                    found.append(f"{tag}[{name}={value}]")
                if name == "src" and not (value.startswith("/") and value[1:2] not in {"/", "\\"}):
                    found.append(f"{tag}[src={value}]")
        return found
