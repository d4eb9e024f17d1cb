"""Chat clients whose answers come from the script: the framework's real connectors, or one of our own."""

from __future__ import annotations

import json
from typing import Any

from .providers import Fake
from .recorder import Recorder
from .script import Script, View

BASE = "http://model.invalid"


def prepare(kinds: set[str]) -> None:
    """Import what clients of these kinds need, which takes longer than an arm does."""
    if "anthropic" in kinds:
        import anthropic.types  # noqa: F401
    if kinds & {"chat", "responses"}:
        import openai.types.chat
        import openai.types.responses  # noqa: F401


def make(kind: str, script: Any, recorder: Recorder, *, raw: bool = False) -> Any:
    """The chat client of a kind: `scripted`, `recorded`, `chat`, `responses`, `anthropic`, `gemini` or `ollama`.

    With `raw` it is the connector without the layer that carries out tools. No request leaves the process.
    """
    if kind == "recorded":
        from . import turns

        return turns.client(script, recorder)
    if kind == "scripted":
        return _scripted(script, recorder)
    fake = Fake(kind, script)
    if kind == "anthropic":
        from agent_framework.anthropic import AnthropicClient
        from anthropic import AsyncAnthropic, _base_client

        http = _http_client(_base_client, fake, recorder)
        service: Any = AsyncAnthropic(api_key="none", base_url=BASE, http_client=http, max_retries=0)
        return AnthropicClient(model="scripted", anthropic_client=service)
    if kind == "gemini":
        return _gemini(fake, recorder, raw=raw)
    if kind == "ollama":
        return _ollama(fake, recorder)
    import agent_framework_openai as connectors
    from openai import AsyncOpenAI
    from openai import _base_client as base

    http = _http_client(base, fake, recorder)
    service = AsyncOpenAI(api_key="none", base_url=f"{BASE}/v1", http_client=http, max_retries=0)
    name = "OpenAIChatClient" if kind == "responses" else "OpenAIChatCompletionClient"
    return getattr(connectors, f"Raw{name}" if raw else name)(model="scripted", async_client=service)


def _gemini(fake: Fake, recorder: Recorder, *, raw: bool) -> Any:
    from importlib import import_module

    import agent_framework_gemini as connectors
    from google import genai

    http = _http_client(import_module("google.genai._api_client"), fake, recorder)
    options = genai.types.HttpOptions(base_url=BASE, httpx_async_client=http)
    service = genai.Client(api_key="none", vertexai=False, http_options=options)
    made = connectors.RawGeminiChatClient if raw else connectors.GeminiChatClient
    return made(model="scripted", client=service)


def _ollama(fake: Fake, recorder: Recorder) -> Any:
    from importlib import import_module

    from agent_framework_ollama import OllamaChatClient

    sdk = import_module("ollama._client")  # `ollama._client` is something else, the default client
    service = sdk.AsyncClient(host=BASE)
    service._client = _http_client(sdk, fake, recorder, base_url=BASE)  # noqa: SLF001 - it takes no client of ours
    return OllamaChatClient(model="scripted", client=service)


def _http_client(sdk: Any, fake: Fake, recorder: Recorder, **options: Any) -> Any:
    httpx = getattr(sdk, "httpx2", None) or sdk.httpx  # some SDKs have gone over to httpx2

    async def answer(request: Any) -> Any:
        body = (await request.aread()).decode()
        entry = recorder.begin(str(request.url), body)
        status, mime, text = fake.answer(json.loads(body))
        recorder.end(entry, status, mime, text)
        return httpx.Response(status, headers={"content-type": mime}, text=text)

    return httpx.AsyncClient(transport=httpx.MockTransport(answer), **options)


def _scripted(script: Script, recorder: Recorder) -> Any:
    """A client of our own on the framework's mixins; their order differs between releases."""
    import agent_framework as af
    from agent_framework_ag_ui import AGUIChatClient

    bases = tuple(base for base in AGUIChatClient.__bases__ if base.__name__ != "Generic")
    fake = Fake("chat", script)

    class ScriptedClient(*bases):  # type: ignore[misc]
        OTEL_PROVIDER_NAME = "scripted"
        model = model_id = "scripted"

        def _inner_get_response(
            self, *, messages: Any, stream: bool = False, options: Any = None, **_: Any
        ) -> Any:
            async def updates() -> Any:
                body = {"model": "scripted", "stream": True, "messages": as_chat(messages)}
                entry = recorder.begin(
                    f"{BASE}/scripted/chat/completions", json.dumps(body, ensure_ascii=False)
                )
                refused = fake.wire.refusal(body)
                if refused is not None:
                    recorder.end(entry, 400, "application/json", json.dumps(fake.wire.error(refused)))
                    raise af.exceptions.ChatClientInvalidRequestException(refused)
                fake.number += 1
                view: View = fake.wire.view(body)
                answer = script.answer(view)
                recorder.end(entry, 200, "text/event-stream", "".join(fake.wire.stream(answer, fake.number)))
                name = f"scripted-{fake.number}"
                contents = [af.Content.from_text(answer.text)] if answer.text else []
                contents += [
                    af.Content.from_function_call(call_id=call.id, name=call.name, arguments=call.arguments)
                    for call in answer.calls
                ]
                for content in contents:
                    yield af.ChatResponseUpdate(role="assistant", contents=[content], message_id=name)

            result = af.ResponseStream(updates(), finalizer=af.ChatResponse.from_updates)
            return result if stream else result.get_final_response()

    return ScriptedClient()


def as_chat(messages: Any) -> list[dict[str, Any]]:
    """Messages of the framework as those of a Chat Completions request, content by content and in order."""
    told: list[dict[str, Any]] = []
    for message in messages:
        role = str(getattr(message.role, "value", message.role))
        calls: list[dict[str, Any]] = []
        texts: list[str] = []
        for content in message.contents:
            if content.type == "text":
                texts.append(content.text or "")
            elif content.type == "function_call":
                arguments = content.arguments
                text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
                function = {"name": content.name, "arguments": text}
                calls.append({"id": content.call_id, "type": "function", "function": function})
            elif content.type == "function_result":
                told.append({"role": "tool", "tool_call_id": content.call_id, "content": str(content.result)})
        if texts or calls:
            told.append({"role": role, "content": "".join(texts), **({"tool_calls": calls} if calls else {})})
    return told
