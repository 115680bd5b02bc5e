"""What is mounted when a part is switched off."""

from __future__ import annotations

import json

import pytest

from tests.live import run_command

ADDRESSES = (
    "/ask",
    "/conversations",
    "/c/5f0c5a1e-0000-4000-8000-000000000003",
    "/shares",
    "/api/chat/options",
    "/v1/chat/completions",
)
PROGRAM = f"""
import json
from django.test import Client
from django.test.utils import setup_test_environment
from secondbrain.asgi import websocket_routes
setup_test_environment()
client = Client(SERVER_NAME="localhost")
print(json.dumps({{
    "statuses": [client.get(address).status_code for address in {ADDRESSES}],
    "home": client.get("/")["Location"],
    "menu": client.get("/accounts/login/").context["chat_is_on"],
    "sockets": len(websocket_routes()),
}}))
"""


@pytest.mark.slow
def test_without_the_chat_there_is_no_address_no_socket_and_no_menu(db: None) -> None:
    said = run_command("shell", "-v0", "-c", PROGRAM, MODULES="", LOG_LEVEL="CRITICAL")
    seen = json.loads(said.strip().splitlines()[-1])
    assert seen == {
        "statuses": [404] * len(ADDRESSES),
        "home": "/search",
        "menu": False,
        "sockets": 0,
    }
