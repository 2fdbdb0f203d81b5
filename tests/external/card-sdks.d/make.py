"""Writes cards with the Python SDK, each into a file whose name ends with its kind. Arguments: the version of
the SDK, and the folder for the files."""

import json
import sys
from pathlib import Path

import a2a.types

version, folder = sys.argv[1], Path(sys.argv[2])


def write(name, kind, card):
    (folder / f"python-{version}-{name}.{kind}.json").write_text(json.dumps(card, indent=2))


plain = {
    "name": "n",
    "description": "d",
    "version": "1",
    "capabilities": {"streaming": True},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [{"id": "i", "name": "n", "description": "d", "tags": ["t"]}],
}
provider = {"organization": "o", "url": "https://o.example/"}


def before_1():
    kind = "a2a-0.3" if version.startswith("0.3") else "a2a-0.2"
    url = {"url": "https://a.example/"}
    full = {
        **plain,
        **url,
        "provider": provider,
        "documentationUrl": "https://a.example/docs",
        "capabilities": {"streaming": True, "pushNotifications": False},
        "securitySchemes": {
            "k": {"type": "apiKey", "in": "header", "name": "X"},
            "b": {"type": "http", "scheme": "Bearer"},
            "o": {"type": "oauth2", "flows": {}},
        },
        "security": [{"k": []}],
        "supportsAuthenticatedExtendedCard": True,
    }
    # The first releases have neither.
    if "additional_interfaces" in a2a.types.AgentCard.model_fields:
        full["capabilities"]["extensions"] = [{"uri": "https://e.example/", "description": "x"}]
        full["preferredTransport"] = "GRPC"
        full["additionalInterfaces"] = [{"url": "https://a.example/", "transport": "GRPC"}]
    for name, source in (("plain", {**plain, **url}), ("full", full)):
        card = a2a.types.AgentCard.model_validate(source)
        write(name, kind, card.model_dump(mode="json", by_alias=True, exclude_none=True))
        write(f"{name}-aliases", kind, card.model_dump(mode="json", by_alias=True))
        write(f"{name}-dump", kind, card.model_dump(mode="json"))


def since_1():
    from a2a.server.request_handlers.response_helpers import agent_card_to_dict
    from google.protobuf.json_format import MessageToDict, ParseDict

    def interface(binding, number):
        return {"url": "https://a.example/", "protocolBinding": binding, "protocolVersion": number}

    full = {
        **plain,
        "provider": provider,
        "iconUrl": "https://a.example/icon",
        "capabilities": {
            "streaming": True,
            "extendedAgentCard": True,
            "extensions": [{"uri": "https://e.example/", "required": True}],
        },
        "supportedInterfaces": [interface("HTTP+JSON", "1.0"), interface("GRPC", "1.0")],
        "securitySchemes": {
            "k": {"apiKeySecurityScheme": {"location": "header", "name": "X"}},
            "b": {"httpAuthSecurityScheme": {"scheme": "Bearer"}},
        },
        "securityRequirements": [{"schemes": {"k": {"list": []}}}],
        "signatures": [{"protected": "e30", "signature": "x"}],
    }
    jsonrpc = {**plain, "supportedInterfaces": [interface("JSONRPC", "1.0")]}
    grpc = {**plain, "supportedInterfaces": [interface("GRPC", "1.0")]}
    for name, source in (("plain", jsonrpc), ("grpc", grpc), ("full", full)):
        card = ParseDict(source, a2a.types.AgentCard())
        write(name, "a2a-1.x", MessageToDict(card))
        write(f"{name}-served", "a2a-1.x", agent_card_to_dict(card))
        write(f"{name}-names", "a2a-1.x", MessageToDict(card, preserving_proto_field_name=True))
        every = MessageToDict(card, always_print_fields_with_no_presence=True)
        write(f"{name}-every", "a2a-1.x", every)
    # Served for older clients as well: members of both generations, on purpose.
    both = {**plain, "supportedInterfaces": [interface("JSONRPC", "1.0"), interface("JSONRPC", "0.3")]}
    write("both", "hybrid", agent_card_to_dict(ParseDict(both, a2a.types.AgentCard())))


if hasattr(a2a.types.AgentCard, "model_fields"):
    before_1()
else:
    since_1()
