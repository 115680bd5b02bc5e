"""How many requests this process answered, and how long they took, by route and outcome."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

BOUNDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds; of a streamed answer until its first byte."""
_UNKNOWN = "unknown"

Key = tuple[str, str, str]


@dataclass
class RequestCounts:
    """Counts by (method, route name, class of status such as "2xx"). Safe between threads."""

    seconds: dict[Key, float] = field(default_factory=dict)
    buckets: dict[Key, Counter[float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, key: Key, seconds: float) -> None:
        bound = next((bound for bound in BOUNDS if seconds <= bound), float("inf"))
        with self._lock:
            self.seconds[key] = self.seconds.get(key, 0.0) + seconds
            self.buckets.setdefault(key, Counter())[bound] += 1

    def read(self) -> dict[Key, tuple[list[tuple[str, int]], float]]:
        """For each key the cumulative buckets, ("0.1", 12) and so on, and the seconds."""
        with self._lock:
            kept = {key: (Counter(found), self.seconds[key]) for key, found in self.buckets.items()}
        return {key: (_cumulative(found), seconds) for key, (found, seconds) in kept.items()}


def _cumulative(found: Counter[float]) -> list[tuple[str, int]]:
    total, buckets = 0, []
    for bound in (*BOUNDS, float("inf")):
        total += found[bound]
        buckets.append(("+Inf" if bound == float("inf") else str(bound), total))
    return buckets


request_counts = RequestCounts()
"""Those of this process."""


@sync_and_async_middleware
def count_requests(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Count every request by the name of its route: addresses hold names of notes."""
    if iscoroutinefunction(get_response):

        async def count_async(request: HttpRequest) -> HttpResponseBase:
            began = time.monotonic()
            pending: Awaitable[HttpResponseBase] = get_response(request)
            return _counted(request, await pending, began)

        return count_async

    def count(request: HttpRequest) -> HttpResponseBase:
        began = time.monotonic()
        return _counted(request, get_response(request), began)

    return count


def _counted(request: HttpRequest, response: HttpResponseBase, began: float) -> HttpResponseBase:
    match = request.resolver_match
    route = (match.view_name if match else "") or _UNKNOWN
    method = request.method if request.method in _METHODS else _UNKNOWN
    key = (str(method), route, f"{response.status_code // 100}xx")
    request_counts.add(key, time.monotonic() - began)
    return response


# Whoever calls may send any word as a method: each would be a series of its own.
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
