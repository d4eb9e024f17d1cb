"""A recorded model: it says again what it said, as long as it is told the same.

What it said is a list of turns for each step of the client, and a turn is a list of contents in the order of
the events that showed them: `{"text"}`, `{"reasoning"}`, `{"call", "name", "arguments"}` (a call goes on with
`name` ""), `{"usage"}` or `{"error": {"code", "message"}}`. Where a turn has an `input`, results by call
id, it is compared with what is sent now. If they differ, the recorded answer is not given: it was meant for
another course of events. A marked filler comes in its place, and the conversation ends after that run.
"""

from __future__ import annotations

from typing import Any

from .models import as_chat
from .providers import chat
from .recorder import Recorder

FILLER = "(The recorded model was told something else here, and its answer is left out.)"


class Turns:
    """The turns of one arm, and what has been said so far."""

    def __init__(self, steps: list[list[dict[str, Any]]]) -> None:
        self._steps = steps
        self._waiting: list[dict[str, Any]] = []
        self._step = -1
        self._calls = {
            content["call"]
            for turns in steps
            for turn in turns
            for content in turn["contents"]
            if "call" in content
        }
        #: why the recorded course of events was left; "" as long as it was not
        self.diverged = ""
        #: one entry per model call of a step
        self.log: list[dict[str, Any]] = []

    def begin(self) -> None:
        """The next step begins."""
        self._step += 1
        self._waiting = list(self._steps[self._step])

    def end(self) -> None:
        """The step is over: turns that are left were not asked for."""
        if self._waiting and not self.diverged:
            self.diverged = "the model was not called, and in the recording it was"

    def answer(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """The turn that answers these messages."""
        results = self._results(messages)
        refusal = chat.refusal({"messages": messages})
        told = {"results": results, "refusal": refusal}
        self.log.append(told)
        if not self._waiting:
            return self._leave(told, "the model was called once more than in the recording")
        turn = self._waiting[0]
        differs = _difference(turn.get("input"), results)
        if differs:
            return self._leave(told, differs)
        if turn.get("when") == "refused" and not refusal:
            return self._leave(told, "the provider had refused the history, and has no reason to here")
        return self._waiting.pop(0)

    def _leave(self, told: dict[str, Any], why: str) -> dict[str, Any]:
        self.diverged = self.diverged or why
        told["diverged"] = why
        self._waiting = []
        return {"contents": [{"text": FILLER}]}

    def _results(self, messages: list[dict[str, Any]]) -> dict[str, str | None]:
        """Results by call; None for a call without one. Ids that the framework made up are left out."""
        made = [call["id"] for message in messages for call in message.get("tool_calls") or ()]
        results: dict[str, str | None] = dict.fromkeys(call for call in made if call in self._calls)
        for message in messages:
            if message["role"] == "tool" and message["tool_call_id"] in self._calls:
                results[message["tool_call_id"]] = message["content"]
        return results


def _difference(recorded: dict[str, str | None] | None, now: dict[str, str | None]) -> str:
    if recorded is None or recorded == now:
        return ""
    for call in [*recorded, *now]:
        if recorded.get(call, "") == now.get(call, "") and (call in recorded) == (call in now):
            continue
        return f"the model is told {_said(now, call)} of {call}, and was told {_said(recorded, call)}"
    return ""


def _said(results: dict[str, str | None], call: str) -> str:
    if call not in results:
        return "nothing"
    result = results[call]
    return "no result" if result is None else repr(result if len(result) < 80 else f"{result[:79]}…")


def client(turns: Turns, recorder: Recorder) -> Any:
    """A chat client on the framework's mixins, whose order differs between releases."""
    import agent_framework as af
    from agent_framework_ag_ui import AGUIChatClient

    del recorder  # what it was told stands in the log of the step; there is no provider to have a wire
    bases = tuple(base for base in AGUIChatClient.__bases__ if base.__name__ != "Generic")

    class RecordedClient(*bases):  # type: ignore[misc]
        OTEL_PROVIDER_NAME = "recorded"
        model = model_id = "recorded"

        def _inner_get_response(
            self, *, messages: Any, stream: bool = False, options: Any = None, **_: Any
        ) -> Any:
            async def updates() -> Any:
                turn = turns.answer(as_chat(messages))
                named = {key: turn[key] for key in ("response_id", "conversation_id") if key in turn}
                for content in turn["contents"]:
                    if "error" in content:
                        raise _error(content["error"])
                    yield af.ChatResponseUpdate(role="assistant", contents=[_content(content)], **named)

            result = af.ResponseStream(updates(), finalizer=af.ChatResponse.from_updates)
            return result if stream else result.get_final_response()

    return RecordedClient()


def _content(told: dict[str, Any]) -> Any:
    import agent_framework as af

    if "call" in told:
        return af.Content.from_function_call(
            call_id=told["call"], name=told["name"], arguments=told["arguments"]
        )
    if "usage" in told:
        return af.Content.from_usage(told["usage"])
    if "reasoning" in told:
        return af.Content.from_text_reasoning(
            text=told["reasoning"], **({"id": told["id"]} if told.get("id") else {})
        )
    return af.Content.from_text(told["text"])


def _error(told: dict[str, str]) -> Exception:
    """The recorded error: an exception of the framework of that name, or one that is called the same."""
    import agent_framework as af

    known = getattr(af.exceptions, told["code"], None)
    kind = (
        known
        if isinstance(known, type) and issubclass(known, Exception)
        else type(told["code"], (Exception,), {})
    )
    made: Exception = kind(told["message"])
    return made
