"""Offers the tools that plugins describe to an agent: JSON-RPC on standard input and output, one message a line.

Two tools of its own list a plugin's tools and call them. What submits needs the operator's consent.
"""

import asyncio
import json
import os
import sys

from netbox_sdk.client import (
    Config,
    NetBoxApiClient,
    discover_plugin_manifests,
    plugin_arguments_to_query,
    plugin_tool_request_path,
)
from netbox_sdk.plugin_bridge import (
    PluginBridgeError,
    parse_plugin_tool_response_document,
    validate_plugin_tool_arguments,
    validate_plugin_tool_response,
)

LONGEST = 256 * 1024
ENVELOPE = {"plugin", "tool", "arguments", "dry_run"}
allowed = False


def settings():
    path = os.path.join(os.environ["HOME"], ".config/netbox-sdk/config.json")
    try:
        with open(path) as file:
            return json.load(file)["profiles"]["default"]
    except OSError:
        return {}


def client():
    variables = (os.environ.get(name) for name in ("NETBOX_URL", "NETBOX_TOKEN_KEY", "NETBOX_TOKEN_SECRET"))
    return NetBoxApiClient(Config(*variables, **settings()))


async def list_tools(asked):
    catalog = await discover_plugin_manifests(client(), plugin=asked["plugin"])
    return {"tools": [dict(tool._descriptor) for manifest in catalog.manifests for tool in manifest.tools]}


async def call_tool(asked):
    plugin, name, arguments = asked["plugin"], asked["tool"], asked["arguments"]
    if set(asked) - ENVELOPE:
        raise PluginBridgeError("the envelope has unknown members")
    json.dumps(asked, ensure_ascii=False).encode()
    api = client()
    tool = (await discover_plugin_manifests(api, plugin=plugin)).find_tool(plugin, name)
    validate_plugin_tool_arguments(tool, arguments)
    path = plugin_tool_request_path(plugin, tool)
    reads = tool.effect == "read"
    facts = {"plugin": plugin, "tool": name, "effect": tool.effect}
    if is_dry(asked):
        return {"dry_run": True, "body": None if reads else arguments, **facts}
    if not reads and not consents():
        raise PluginBridgeError("mutations are not allowed")
    response = await api.request_bounded(
        tool.method,
        path,
        max_response_bytes=LONGEST,
        query=plugin_arguments_to_query(arguments) if reads else {},
        payload=None if reads else arguments,
    )
    return result(facts, tool, response)


def is_dry(asked):
    return asked["dry_run"]


def consents():
    return allowed


def result(facts, tool, response):
    if response.status not in (200, 201, 202):
        raise PluginBridgeError(f"the outcome is not known: HTTP {response.status}")
    validate_plugin_tool_response(tool, parse_plugin_tool_response_document(response.text))
    return {"status": response.status, "headers": {}, "body": json.loads(response.text), **facts}


TOOLS = {"plugin_list_tools": list_tools, "plugin_call_tool": call_tool}


def offered():
    return list(TOOLS)


def called(name, arguments):
    try:
        text, wrong = json.dumps(asyncio.run(TOOLS[name](arguments))), False
    except Exception as error:
        text, wrong = f"{type(error).__name__}: {error}", True
    return {"content": [{"type": "text", "text": text}], "isError": wrong}


def answer(message):
    method, parameters = message["method"], message.get("params", {})
    if method == "initialize":
        return {"protocolVersion": parameters["protocolVersion"], "capabilities": {"tools": {}}}
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in offered()]}
    return called(parameters["name"], parameters["arguments"])


def run(arguments):
    global allowed
    allowed = "--allow-mutations" in arguments or os.environ.get("NETBOX_MCP_ALLOW_MUTATIONS") == "1"
    # What is no identity is refused as such, however long it is.
    sys.set_int_max_str_digits(0)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer(message)}), flush=True)
