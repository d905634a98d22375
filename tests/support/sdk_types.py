"""The official SDKs' own types, with validation on: do they take what is written?

Each check takes the messages of one turn, the assistant's and those of its results, and raises
where a type refuses one. Where an SDK is not installed the test is skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import pytest

from toolflow.formats.bedrock_writer import with_bytes

Check = Callable[[list[Any], list[Any]], None]


def exhausted(value: Any) -> Any:
    """Everything inside; pydantic validates iterables only as they are walked."""
    if isinstance(value, dict):
        return {key: exhausted(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [exhausted(item) for item in value]
    return value


@cache
def _adapter(module: str, name: str) -> Any:
    pydantic = pytest.importorskip("pydantic")
    return pydantic.TypeAdapter(getattr(pytest.importorskip(module), name))


def check_chat(assistant: list[Any], results: list[Any]) -> None:
    """Types of the OpenAI SDK, or of Mistral's where the arguments are objects.

    Messages of Ollama's native chat, which has no such types, are let pass.
    """
    if any("tool_name" in message for message in results):
        return
    bodies = [call.get("function", {}) for call in assistant[0].get("tool_calls", ())]
    if any(isinstance(body.get("arguments"), dict) for body in bodies):
        _check_mistral(assistant, results)
        return
    params = {
        "assistant": "ChatCompletionAssistantMessageParam",
        "tool": "ChatCompletionToolMessageParam",
        "user": "ChatCompletionUserMessageParam",
    }
    for message in (*assistant, *results):
        adapter = _adapter("openai.types.chat", params[message["role"]])
        exhausted(adapter.validate_python(message))


def _check_mistral(assistant: list[Any], results: list[Any]) -> None:
    models = pytest.importorskip("mistralai.client.models")
    known = {
        "assistant": models.AssistantMessage,
        "tool": models.ToolMessage,
        "user": models.UserMessage,
    }
    for message in (*assistant, *results):
        known[message["role"]].model_validate(message)


_RESULTS = {
    "function_call_output": "FunctionCallOutput",
    "local_shell_call_output": "LocalShellCallOutput",
    "shell_call_output": "ShellCallOutput",
    "apply_patch_call_output": "ApplyPatchCallOutput",
    "computer_call_output": "ComputerCallOutput",
    "tool_search_output": "ResponseToolSearchOutputItemParamParam",
}


def check_responses(assistant: list[Any], results: list[Any]) -> None:
    """Types of the OpenAI SDK; each result by its own type, so that no laxer one takes it."""
    for item in (*assistant, *results):
        any_item = _adapter("openai.types.responses", "ResponseInputItemParam")
        exhausted(any_item.validate_python(item))
        kind = item.get("type")
        if kind in _RESULTS:
            module = "openai.types.responses.response_input_item_param"
            exhausted(_adapter(module, _RESULTS[kind]).validate_python(item))
        elif kind == "custom_tool_call_output":
            own = _adapter("openai.types.responses", "ResponseCustomToolCallOutputParam")
            exhausted(own.validate_python(item))


_MESSAGE = ("anthropic.types", "MessageParam")
_BETA = frozenset({"fallback"})


def check_anthropic(assistant: list[Any], results: list[Any]) -> None:
    """Types of the Anthropic SDK; a block that only its beta types have is checked by those."""
    for message in (*assistant, *results):
        content = message["content"]
        is_beta = isinstance(content, list) and any(b.get("type") in _BETA for b in content)
        place = ("anthropic.types.beta", "BetaMessageParam") if is_beta else _MESSAGE
        exhausted(_adapter(*place).validate_python(message))


def check_gemini(assistant: list[Any], results: list[Any]) -> None:
    types = pytest.importorskip("google.genai.types")
    for message in (*assistant, *results):
        types.Content.model_validate(message)  # it forbids fields that it does not know


@cache
def _converse() -> Any:
    loaders = pytest.importorskip("botocore.loaders")
    model = pytest.importorskip("botocore.model")
    service = loaders.Loader().load_service_model("bedrock-runtime", "service-2")
    return model.ServiceModel(service).operation_model("Converse").input_shape


def check_bedrock(assistant: list[Any], results: list[Any]) -> None:
    validate = pytest.importorskip("botocore.validate")
    request = {"modelId": "m", "messages": with_bytes([*assistant, *results])}
    report = validate.ParamValidator().validate(request, _converse())
    assert not report.has_errors(), report.generate_report()


def check_cohere(assistant: list[Any], results: list[Any]) -> None:
    types = pytest.importorskip("cohere.types")
    known = {
        "assistant": types.AssistantChatMessageV2,
        "tool": types.ToolChatMessageV2,
        "user": types.UserChatMessageV2,
    }
    for message in (*assistant, *results):
        known[message["role"]].model_validate(message)


def check_mcp(assistant: list[Any], results: list[Any]) -> None:
    types = pytest.importorskip("mcp.types")
    for message in (*assistant, *results):
        for each in message if isinstance(message, list) else [message]:
            if "method" in each:
                types.JSONRPCRequest.model_validate(each)
                call = {"method": each["method"], "params": each["params"]}
                types.CallToolRequest.model_validate(call)
            else:
                types.JSONRPCResponse.model_validate(each)
                types.CallToolResult.model_validate(each["result"])


CHECKS: dict[str, Check] = {
    "openai-chat": check_chat,
    "openai-responses": check_responses,
    "anthropic": check_anthropic,
    "gemini": check_gemini,
    "bedrock": check_bedrock,
    "cohere": check_cohere,
    "mcp": check_mcp,
}
"""A check for every format of a provider; plain calls have no SDK."""
