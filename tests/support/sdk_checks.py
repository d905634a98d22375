"""Whether messages pass the types of the official SDKs; a test skips where an SDK is absent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def _walked(value: Any) -> None:
    """Look at everything inside; pydantic validates iterables only as they are walked."""
    if isinstance(value, dict):
        for item in value.values():
            _walked(item)
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for item in value:
            _walked(item)


def _each(kind: Any, messages: list[Any]) -> None:
    adapter = pytest.importorskip("pydantic").TypeAdapter(kind)
    for message in messages:
        _walked(adapter.validate_python(message))


def check_anthropic(messages: list[Any]) -> None:
    _each(pytest.importorskip("anthropic.types").MessageParam, messages)


def check_chat(messages: list[Any]) -> None:
    _each(pytest.importorskip("openai.types.chat").ChatCompletionMessageParam, messages)


def check_responses(messages: list[Any]) -> None:
    _each(pytest.importorskip("openai.types.responses").ResponseInputItemParam, messages)


def check_gemini(messages: list[Any]) -> None:
    types = pytest.importorskip("google.genai.types")
    for message in messages:
        types.Content.model_validate(message)


def check_bedrock(messages: list[Any]) -> None:
    loaders = pytest.importorskip("botocore.loaders")
    model = pytest.importorskip("botocore.model")
    validate = pytest.importorskip("botocore.validate")
    service = loaders.Loader().load_service_model("bedrock-runtime", "service-2")
    shape = model.ServiceModel(service).operation_model("Converse").input_shape
    report = validate.ParamValidator().validate({"modelId": "m", "messages": messages}, shape)
    assert not report.has_errors(), report.generate_report()


def check_cohere(messages: list[Any]) -> None:
    types = pytest.importorskip("cohere.types")
    known = {
        "assistant": types.AssistantChatMessageV2,
        "tool": types.ToolChatMessageV2,
        "user": types.UserChatMessageV2,
    }
    for message in messages:
        known[message["role"]].model_validate(message)


def check_mcp(messages: list[Any]) -> None:
    types = pytest.importorskip("mcp.types")
    for message in messages:
        if message.get("method") == "tools/call":
            types.JSONRPCRequest.model_validate(message)
            types.CallToolRequest.model_validate(
                {"method": message["method"], "params": message["params"]}
            )
        elif "result" in message:
            types.JSONRPCResponse.model_validate(message)
            types.CallToolResult.model_validate(message["result"])


CHECKS = {
    "anthropic": check_anthropic,
    "bedrock": check_bedrock,
    "cohere": check_cohere,
    "gemini": check_gemini,
    "mcp": check_mcp,
    "openai-chat": check_chat,
    "openai-responses": check_responses,
}
"""The check of each wire format that has conversations; it raises where an SDK would."""
