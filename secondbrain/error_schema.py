"""The form of errors in the published description of the API."""

from __future__ import annotations

from typing import Any

_NAME = "Problem"
_PROBLEM = {
    "type": "object",
    "description": "What cannot be done, and why; `fields` where it is about fields.",
    "properties": {
        "code": {"type": "string", "description": "stable, for programs"},
        "detail": {"type": "string", "description": "sentences, for people"},
        "fields": {
            "type": "object",
            "description": "sentences by the field that they are about",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
        },
    },
    "required": ["code", "detail"],
}
_ANSWER = {
    "description": "An error.",
    "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{_NAME}"}}},
}


def describe_errors(result: Any, **_rest: Any) -> Any:
    """The description, in which every address of this API has its errors."""
    result["components"]["schemas"][_NAME] = _PROBLEM
    for path, methods in result["paths"].items():
        if path.startswith("/api/"):
            for operation in methods.values():
                operation["responses"].setdefault("default", _ANSWER)
    return result
