"""An embedder that remembers: passages already embedded are read from a file.

A benchmark that is run again after a change of the search embeds nothing twice. The file
is an SQLite database; a key holds the fingerprint of the model and the text, so that
another make of the model never meets old vectors.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from providers.core.protocols import Embedder, Vectors


class KeptVectors:
    """`inner` (an Embedder) behind a file of vectors; `space` is the model's fingerprint."""

    def __init__(self, inner: Embedder, *, space: str, file: Path) -> None:
        self.inner, self.space = inner, space
        self.dimensions, self.max_tokens = inner.dimensions, inner.max_tokens
        file.parent.mkdir(parents=True, exist_ok=True)
        # Embedding runs in the caller's thread or in one of asyncio's.
        self.rows = sqlite3.connect(file, check_same_thread=False)
        self.rows.execute("CREATE TABLE IF NOT EXISTS kept (key BLOB PRIMARY KEY, vector BLOB)")

    def count_tokens(self, text: str) -> int:
        return self.inner.count_tokens(text)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return await self._embed(texts, kind="query")

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return await self._embed(texts, kind="passage")

    async def _embed(self, texts: Sequence[str], *, kind: str) -> Vectors:
        keys = [self._key(text, kind) for text in texts]
        known = {key: self._read(key) for key in keys}
        missing = [n for n, key in enumerate(keys) if known[key] is None]
        if missing:
            ask = self.inner.embed_queries if kind == "query" else self.inner.embed_passages
            made = await ask([texts[number] for number in missing])
            for number, vector in zip(missing, made, strict=True):
                known[keys[number]] = vector
                self.rows.execute(
                    "INSERT OR REPLACE INTO kept VALUES (?, ?)",
                    (keys[number], np.asarray(vector, dtype=np.float32).tobytes()),
                )
            self.rows.commit()
        return np.stack([known[key] for key in keys]).astype(np.float32)  # type: ignore[arg-type]

    def _key(self, text: str, kind: str) -> bytes:
        return hashlib.sha256(f"{self.space}\0{kind}\0{text}".encode()).digest()

    def _read(self, key: bytes) -> Vectors | None:
        row = self.rows.execute("SELECT vector FROM kept WHERE key = ?", (key,)).fetchone()
        return None if row is None else np.frombuffer(row[0], dtype=np.float32)
