"""`manage.py mcp`: agents on the same machine, over standard input and output."""

from __future__ import annotations

import asyncio
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from secondbrain.mcp_tools import Agent
from vault.models import ApiToken
from vault.tokens import create_token, find_token


class Command(BaseCommand):
    help = "Serve the Model Context Protocol on stdin and stdout, with the rights of a user."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", required=True, help="e-mail of whose rights agents have")

    def handle(self, *args: Any, **options: Any) -> None:
        user = (
            get_user_model().objects.filter(email__iexact=options["user"], is_active=True).first()
        )
        if user is None:
            raise CommandError(
                f"--user: no active user has the e-mail {options['user']}.", returncode=2
            )
        # A token of its own: withdrawn in the admin, the agent may do nothing more.
        token = find_token(create_token(user, name="agent on this machine"))
        if token is None:
            raise CommandError("The token of the agent vanished: start again.")
        try:
            asyncio.run(_serve(Agent(user_id=user.pk, token_id=token.pk)))
        finally:
            ApiToken.objects.filter(pk=token.pk).delete()


async def _serve(agent: Agent) -> None:
    from mcp.server.stdio import stdio_server

    from secondbrain.mcp_server import server_for

    server = server_for(agent)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
