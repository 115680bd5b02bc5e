"""Columns that Django does not know: vectors of any length, and regconfig."""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

import numpy as np
from django.db import connections, models
from django.db.backends.base.base import BaseDatabaseWrapper
from numpy.typing import NDArray

Vector = NDArray[np.float32]


# Connections that were asked already. Once there, the type stays: columns depend on it.
_WITH_HALFVEC: WeakSet[BaseDatabaseWrapper] = WeakSet()


def has_halfvec(connection: BaseDatabaseWrapper) -> bool:
    """Whether this database has pgvector's halfvec type: asked until it is there."""
    # What is imported as `connection` stands for one of these and cannot be a key.
    known = connections[connection.alias]
    if known in _WITH_HALFVEC:
        return True
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_type WHERE typname = 'halfvec'")
        found = cursor.fetchone() is not None
    if found:
        _WITH_HALFVEC.add(known)
    return found


class VectorField(models.Field[Vector, Vector]):
    """A vector without a fixed dimension: float32 (d,) in Python.

    `halfvec` where pgvector is installed, `real[]` where it is not, so that search by
    meaning works, slower, on a plain PostgreSQL. Dimensions are kept by the partial
    index of each embedding model (vault/vector_index.py).
    """

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return "halfvec" if has_halfvec(connection) else "real[]"

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Vector | None:
        if value is None:
            return None
        if isinstance(value, str):
            return np.fromstring(value.strip("[]{}"), sep=",", dtype=np.float32)
        return np.asarray(value, dtype=np.float32)

    def get_prep_value(self, value: Any) -> Any:
        return None if value is None else vector_literal(np.asarray(value, dtype=np.float32))

    def get_db_prep_value(
        self,
        value: Any,
        connection: BaseDatabaseWrapper,
        prepared: bool = False,  # noqa: FBT001, FBT002 (Django's signature)
    ) -> Any:
        literal = value if prepared else self.get_prep_value(value)
        if literal is None or has_halfvec(connection):
            return literal
        return "{" + literal.strip("[]") + "}"


def vector_literal(vector: Vector) -> str:
    """The text form that pgvector reads: `[0.1,0.2]`."""
    # In one go: every search writes some.
    return "[" + ("%.7g," * len(vector) % tuple(vector.tolist()))[:-1] + "]"


class TextSearchConfigField(models.CharField[str, str]):
    """A PostgreSQL `regconfig`: immutable when it feeds a generated tsvector."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("max_length", 63)
        super().__init__(*args, **kwargs)

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return "regconfig"

    def get_placeholder(self, value: Any, compiler: Any, connection: Any) -> str:
        return "%s::regconfig"
