"""A client made with the Python SDK. What it reads and prints is described in ../mcp-clients.mjs."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

cell = json.loads(sys.stdin.readline())


def say(value):
    print(json.dumps(value), flush=True)


def client():
    if "command" in cell:
        server = StdioServerParameters(command=cell["command"])
    else:
        headers = {"authorization": f"Bearer {cell['token']}"} if "token" in cell else {}
        server = streamable_http_client(cell["url"], http_client=create_mcp_http_client(headers))
    return Client(server, mode={"modern": "2026-07-28"}.get(cell["mode"], cell["mode"]))


async def call(connected, tool, arguments):
    result = await connected.call_tool(tool, arguments)
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


async def calls():
    async with client() as connected:
        tools = (await connected.list_tools()).tools
        status = await call(connected, "service_status", {})
        card = await call(connected, "validate_agent_card", {"card": cell["card"]})
        say({"tools": [tool.name for tool in tools], "status": status, "card": card})
        if not await asyncio.to_thread(sys.stdin.readline):
            return
        try:
            say({"status": await call(connected, "service_status", {})})
            return
        except Exception:
            pass
    async with client() as connected:
        say({"status": await call(connected, "service_status", {})})


try:
    asyncio.run(calls())
except BaseException as error:
    # A group of tasks wraps what went wrong.
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    say({"error": repr(error)})
