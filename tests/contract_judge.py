"""Puts vectors to an SDK and prints what it said. Usage: contract_judge.py SDK_ROOT MANIFEST < vectors

One JSON object a line comes in (id, question, tool, input); one line a vector goes out: id, a tab, and `accept` or the
class raised.
"""

import json
import sys

sys.path.insert(0, sys.argv[1])
from netbox_sdk import plugin_bridge  # noqa: E402

with open(sys.argv[2], encoding="utf-8") as file:
    MANIFEST = plugin_bridge.PluginManifest.model_validate(json.load(file))
TOOLS = {tool.name: tool for tool in MANIFEST.tools}


def answer(question):
    value, before = json.loads(question["input"]), json.loads(question["input"])
    try:
        if question["question"] == "manifest":
            plugin_bridge.PluginManifest.model_validate(value)
        elif question["question"] == "arguments":
            plugin_bridge.validate_plugin_tool_arguments(TOOLS[question["tool"]], value)
        elif question["question"] == "response":
            plugin_bridge.validate_plugin_tool_response(TOOLS[question["tool"]], value)
        elif question["question"] == "document":
            value = before = plugin_bridge.parse_plugin_tool_response_document(question["input"])
            plugin_bridge.validate_plugin_tool_response(TOOLS[question["tool"]], value)
        verdict = "accept"
    except Exception as error:
        verdict = f"{type(error).__module__}:{type(error).__name__}"
    return verdict if repr(value) == repr(before) else "changed its argument"


for line in sys.stdin:
    question = json.loads(line)
    print(question["id"], answer(question), sep="\t")
