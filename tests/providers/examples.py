"""For each rule that can refuse: requests that its provider refuses, and near ones that it takes.

A refused request names the ids that are to blame, the place of the first, and a piece of the words that
the provider answers with. All ids, names and texts are made up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
OPENAI = "https://api.openai.com/v1/responses"
DEEPSEEK = "https://api.deepseek.com/v1/responses"
CHAT = "https://api.openai.com/v1/chat/completions"
ANTHROPIC = "https://api.anthropic.com/v1/messages"
GOOGLE = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:generateContent"
GOOGLE_3 = GOOGLE.replace("2.5", "3")
MISTRAL = "https://api.mistral.ai/v1/chat/completions"
OLLAMA = "http://127.0.0.1:11434/api/chat"
BEDROCK = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/anthropic.claude/converse"
BEDROCK_CLAUDE = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/anthropic.claude/invoke"


@dataclass(frozen=True)
class Refused:
    """A request, and what the refusal says."""

    body: Json
    ids: tuple[str, ...]
    place: str
    words: str
    url: str
    severity: str = "error"
    #: other rules that refuse it as well
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Taken:
    """A request that is no fault, and why one could think that it is."""

    body: Json
    url: str
    why: str


@dataclass
class Both:
    """The examples of one rule."""

    refused: list[Refused] = field(default_factory=list)
    taken: list[Taken] = field(default_factory=list)


# ---------------------------------------------------------------- OpenAI Responses


def says(text: str) -> Json:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def item(call_id: str, name: str = "water", **more: Any) -> Json:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": '{"bed": 3}', **more}


def output(call_id: str, said: str = "wet") -> Json:
    return {"type": "function_call_output", "call_id": call_id, "output": said}


def responses(*items: Json, **more: Any) -> Json:
    return {"model": "gpt-5.2", "store": False, **more, "input": list(items)}


def hosted(own: str = "mcpr_1", label: Any = "stock") -> Json:
    return {
        "type": "mcp_approval_request",
        "id": own,
        "name": "empty_bin",
        "arguments": "{}",
        "server_label": label,
    }


def decided(own: str) -> Json:
    return {"type": "mcp_approval_response", "approval_request_id": own, "approve": True}


HI = says("Water bed 3.")
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x1Y="}

# ---------------------------------------------------------------- Chat Completions, Mistral, Ollama


def user(text: str = "Water bed 3.") -> Json:
    return {"role": "user", "content": text}


def calls(*ids: str, text: str | None = None, arguments: Any = '{"bed": 3}') -> Json:
    made = [{"id": i, "type": "function", "function": {"name": "water", "arguments": arguments}} for i in ids]
    return {"role": "assistant", "content": text, "tool_calls": made}


def tool(call_id: str, said: str = "wet") -> Json:
    return {"role": "tool", "tool_call_id": call_id, "content": said}


def assistant(text: str = "Done.") -> Json:
    return {"role": "assistant", "content": text}


def chat(*messages: Json, model: str = "gpt-5.2") -> Json:
    return {"model": model, "messages": list(messages)}


def mistral(*messages: Json) -> Json:
    return chat(*messages, model="mistral-large-latest")


def ollama(*messages: Json) -> Json:
    return {"model": "qwen3", "stream": False, "options": {"num_ctx": 4096}, "messages": list(messages)}


def ollama_call(arguments: Any) -> Json:
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"function": {"name": "water", "arguments": arguments}}],
    }


def ollama_result(said: str = "wet") -> Json:
    return {"role": "tool", "tool_name": "water", "content": said}


# ---------------------------------------------------------------- Anthropic


def use(call_id: str, name: str = "water") -> Json:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {"bed": 3}}


def result(call_id: str, said: str = "wet") -> Json:
    return {"type": "tool_result", "tool_use_id": call_id, "content": said}


def words(text: str = "Water bed 3.") -> Json:
    return {"type": "text", "text": text}


def thinking(signature: str = "c2lnbmVk") -> Json:
    made = {"type": "thinking", "thinking": "Bed 3 is dry."}
    return made | {"signature": signature} if signature else made


def turn(role: str, *blocks: Json) -> Json:
    return {"role": role, "content": list(blocks)}


def claude(*messages: Json, **more: Any) -> Json:
    return {"model": "claude-sonnet-5", "max_tokens": 1024, **more, "messages": list(messages)}


ASK, WET = turn("user", words()), turn("user", result("toolu_1"))
THINKS = {"thinking": {"type": "enabled", "budget_tokens": 1024}}

# ---------------------------------------------------------------- Gemini


def function(name: str = "water", signature: str = "") -> Json:
    made: Json = {"functionCall": {"name": name, "args": {"bed": 3}}}
    return made | {"thoughtSignature": signature} if signature else made


def response(name: str = "water") -> Json:
    return {"functionResponse": {"name": name, "response": {"result": "wet"}}}


def content(role: str, *parts: Json) -> Json:
    return {"role": role, "parts": list(parts)}


def gemini(*contents: Json) -> Json:
    return {"contents": list(contents)}


GO = content("user", {"text": "Water bed 3."})

# ---------------------------------------------------------------- Bedrock


def tool_use(call_id: str, name: str = "water") -> Json:
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": {"bed": 3}}}


def tool_result(call_id: str, *parts: Json, status: str = "success") -> Json:
    return {"toolResult": {"toolUseId": call_id, "content": list(parts), "status": status}}


SPEC = {"toolSpec": {"name": "water", "inputSchema": {"json": {"type": "object"}}}}


def converse(*messages: Json, tools: bool = True) -> Json:
    made: Json = {
        "modelId": "anthropic.claude",
        "messages": list(messages),
        "inferenceConfig": {"maxTokens": 9},
    }
    return made | {"toolConfig": {"tools": [SPEC]}} if tools else made


DO, DRY = turn("user", {"text": "Water bed 3."}), {"text": "wet"}

RULES: dict[str, Both] = {
    "R1": Both(
        [Refused(responses(HI, output("call_9")), ("call_9",), "input[1]",
                 "No tool call found for function call output with call_id call_9.", OPENAI)],
        [Taken(responses(HI, item("call_9"), output("call_9")), OPENAI, "the call is in the input"),
         Taken(responses(output("call_9"), previous_response_id="resp_1", store=True), OPENAI,
               "the call may be in what the service keeps"),
         Taken(responses(output("call_9"), conversation="conv_1", store=True), OPENAI, "or in a conversation"),
         Taken(responses(HI, output("call_9"), item("call_9")), OPENAI, "OpenAI pairs wherever they stand")],
    ),
    "R2": Both(
        [Refused(responses(HI, item("call_1"), item("call_2"), output("call_1")), ("call_2",), "input[2]",
                 "No tool output found for function call call_2.", OPENAI)],
        [Taken(responses(HI, item("call_1"), item("call_2"), output("call_2"), output("call_1")), OPENAI,
               "in another order"),
         Taken(responses(HI, {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "rain"}}), OPENAI,
               "a call that the service carries out has no output")],
    ),
    "R3": Both(
        [Refused(responses(HI, item("call_1"), output("call_1"), decided("call_1")), ("call_1",), "input[3]",
                 "have approval responses but weren't passed as input: call_1", OPENAI),
         Refused(responses(HI, decided("mcpr_1")), ("mcpr_1",), "input[1]",
                 "have approval responses but weren't passed as input: mcpr_1", OPENAI)],
        [Taken(responses(HI, hosted(), decided("mcpr_1")), OPENAI, "its request is in the input"),
         Taken(responses(decided("mcpr_1"), previous_response_id="resp_1", store=True), OPENAI,
               "its request may be in what the service keeps")],
    ),
    "R4": Both(
        [Refused(responses(HI, item("call_1", id="fc_1"), output("call_1"), item("call_1", id="fc_1")), ("call_1",), "input[1]",
                 "Duplicate item found with id fc_1.", OPENAI),
         Refused(responses(item("call_1", id="fc_1"), output("call_1"), previous_response_id="resp_1", store=True),
                 ("call_1",), "input[0]", "Duplicate item found with id fc_1.", OPENAI)],
        [Taken(responses(HI, item("call_1", id="fc_1"), output("call_1"), item("call_2", id="fc_2"), output("call_2")), OPENAI,
               "other ids"),
         Taken(responses(HI, {"type": "item_reference", "id": "fc_1"}, output("call_1"), store=True), OPENAI,
               "a reference repeats nothing")],
    ),
    "R5": Both(
        [Refused(responses(HI, item("call_1"), output("call_1"), output("call_1", "dry")), ("call_1",), "input[2]",
                 "Duplicate function_call_output for call_id 'call_1'.", OPENAI, severity="warning")],
        [Taken(responses(HI, item("call_1"), item("call_2"), output("call_1"), output("call_2")), OPENAI, "equal outputs of two calls")],
    ),
    "R6": Both(
        [Refused(responses(HI, item("c" * 65), output("c" * 65)), ("c" * 65,), "input[1]",
                 "Expected a string with maximum length 64, but got a string with length 65", OPENAI)],
        [Taken(responses(HI, item("c" * 64), output("c" * 64)), OPENAI, "64 characters")],
    ),
    # R7 needs the answer that held both: tests/providers/test_rules.py
    "R8": Both(
        [Refused(responses(HI, {"type": "item_reference", "id": "rs_9"}), (), "input[1]",
                 "Item with id 'rs_9' not found.", OPENAI),
         Refused(responses(HI, {"type": "reasoning", "id": "rs_9", "summary": []}), (), "input[1]",
                 "Items are not persisted when `store` is set to false.", OPENAI)],
        [Taken(responses(HI, THOUGHT, item("call_1"), output("call_1")), OPENAI, "reasoning with its encrypted content"),
         Taken(responses(HI, {"type": "item_reference", "id": "rs_9"}, store=True), OPENAI, "the service keeps it")],
    ),
    "R9": Both(
        [Refused(responses(HI, hosted(label=None), decided("mcpr_1")), ("mcpr_1",), "input[1]",
                 "Missing required parameter: 'input[1].server_label'.", OPENAI)],
        [Taken(responses(HI, hosted(), decided("mcpr_1")), OPENAI, "with its label")],
    ),
    "R10": Both(
        [Refused(responses(HI, item("call_1"), {"role": "assistant", "content": "Wait."}, output("call_1")), ("call_1",), "input[1]",
                 "No tool output found for tool call call_1.", DEEPSEEK)],
        [Taken(responses(HI, item("call_1"), {"role": "assistant", "content": "Wait."}, output("call_1")), OPENAI, "the same at OpenAI"),
         Taken(responses(HI, item("call_1"), item("call_2"), output("call_1"), output("call_2")), DEEPSEEK, "behind the calls beside it")],
    ),
    "R11": Both(
        [Refused(chat(user(), calls("call_1", "call_2"), tool("call_1"), user("Go on.")), ("call_2",), "messages[1]",
                 "The following tool_call_ids did not have response messages: call_2", CHAT)],
        [Taken(chat(user(), calls("call_1", "call_2"), tool("call_2"), tool("call_1"), user("Go on.")), CHAT, "in another order"),
         Taken(chat(user(), assistant("Shall I?"), user("Yes.")), CHAT, "no call")],
    ),
    "R12": Both(
        [Refused(chat(user(), tool("call_1"), user("Go on.")), ("call_1",), "messages[1]",
                 "must be a response to a preceeding message with 'tool_calls'", CHAT)],
        [Taken(chat(user(), calls("call_1"), tool("call_1")), CHAT, "right behind its call")],
    ),
    "R13": Both(
        [Refused(chat(user(), calls("call_1"), tool("call_1"), tool("call_1", "dry")), ("call_1",), "messages[2]",
                 "Duplicate value for 'tool_call_id' of 'call_1', in messages[2] and messages[3].", CHAT)],
        [Taken(chat(user(), calls("call_1"), tool("call_1"), user("Again."), calls("call_1"), tool("call_1")), CHAT,
               "the id of an answered call, used again in a later turn")],
    ),
    "R14": Both(
        [Refused(chat(user(), calls("c" * 65), tool("c" * 65)), ("c" * 65,), "messages[1].tool_calls[0]",
                 "string too long. Expected a string with maximum length", CHAT),
         Refused(chat(user(), calls("c" * 41), tool("c" * 41)), ("c" * 41,), "messages[1].tool_calls[0]",
                 "maximum length 40", CHAT, severity="warning")],
        [Taken(chat(user(), calls("c" * 40), tool("c" * 40)), CHAT, "40 characters")],
    ),
    "R15": Both(
        [Refused(claude(ASK, turn("assistant", use("toolu_1")), turn("user", words("Go on."))), ("toolu_1",), "messages[1].content[0]",
                 "ids were found without `tool_result` blocks immediately after: toolu_1", ANTHROPIC)],
        [Taken(claude(ASK, turn("assistant", use("toolu_1")), turn("user", result("toolu_1"), words("Go on."))), ANTHROPIC,
               "text behind the result"),
         Taken(claude(ASK, turn("assistant", {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
                                {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}, words("Dry."))),
               ANTHROPIC, "a tool that the provider runs is answered in the same message")],
    ),
    "R16": Both(
        [Refused(claude(ASK, turn("assistant", words("Hm.")), WET), ("toolu_1",), "messages[2].content[0]",
                 "unexpected `tool_use_id` found in `tool_result` blocks: toolu_1", ANTHROPIC)],
        [Taken(claude(ASK, turn("assistant", words("Hm."), use("toolu_1")), WET), ANTHROPIC, "text before the call")],
    ),
    "R17": Both(
        [Refused(claude(ASK, turn("assistant", use("toolu_1")), turn("user", result("toolu_1"), result("toolu_1", "dry"))),
                 ("toolu_1",), "messages[2].content[0]", "Found multiple `tool_result` blocks with id: toolu_1", ANTHROPIC)],
        [Taken(claude(ASK, turn("assistant", use("toolu_1"), use("toolu_2")), turn("user", result("toolu_1"), result("toolu_2"))),
               ANTHROPIC, "equal results of two calls")],
    ),
    "R18": Both(
        [Refused(claude(ASK, turn("assistant", use("toolu_1")), WET, turn("assistant", use("toolu_1")), WET), ("toolu_1",),
                 "messages[1].content[0]", "`tool_use` ids must be unique", ANTHROPIC)],
        [Taken(claude(ASK, turn("assistant", use("toolu_1")), WET, turn("assistant", use("toolu_2")), turn("user", result("toolu_2"))),
               ANTHROPIC, "the same call with another id")],
    ),
    "R19": Both(
        [Refused(claude(ASK, turn("assistant", use("water::0")), turn("user", result("water::0"))), ("water::0",),
                 "messages[1].content[0]", "String should match pattern '^[a-zA-Z0-9_-]+$'", ANTHROPIC),
         Refused(claude(ASK, turn("assistant", use("t" * 65)), turn("user", result("t" * 65))), ("t" * 65,),
                 "messages[1].content[0]", "", ANTHROPIC, severity="warning")],
        [Taken(claude(ASK, turn("assistant", use("call_A-1")), turn("user", result("call_A-1"))), ANTHROPIC, "an id of another provider")],
    ),
    "R20": Both(
        [Refused(claude(ASK, turn("assistant", use("toolu_1")), turn("user", words("Here:"), result("toolu_1")),
                        anthropic_version="bedrock-2023-05-31"),
                 ("toolu_1",), "messages[2].content[1]",
                 "Did not find 1 `tool_result` block(s) at the beginning of this message", BEDROCK_CLAUDE)],
        [Taken(claude(ASK, turn("assistant", use("toolu_1")), turn("user", words("Here:"), result("toolu_1"))), ANTHROPIC,
               "Anthropic's own address takes any order"),
         Taken(claude(ASK, turn("assistant", use("toolu_1")), turn("user", result("toolu_1"), words("Here.")),
                      anthropic_version="bedrock-2023-05-31"), BEDROCK_CLAUDE, "results first")],
    ),
    "R21": Both(
        [Refused(claude(ASK, turn("assistant", use("toolu_1")), WET, **THINKS), ("toolu_1",), "messages[1].content[0]",
                 "Expected `thinking` or `redacted_thinking`, but found `tool_use`", ANTHROPIC),
         Refused(claude(ASK, turn("assistant", thinking(""), use("toolu_1")), WET, **THINKS), (), "messages[1].content[0]",
                 "thinking.signature: Field required", ANTHROPIC)],
        [Taken(claude(ASK, turn("assistant", thinking(), use("toolu_1")), WET, **THINKS), ANTHROPIC, "signed, and first"),
         Taken(claude(ASK, turn("assistant", use("toolu_1")), WET), ANTHROPIC, "no thinking is asked for"),
         Taken(claude(ASK, turn("assistant", use("toolu_1")), WET, turn("assistant", words("Done.")), turn("user", words("Thanks.")),
                      **THINKS), ANTHROPIC, "a round of tools that is over")],
    ),
    "R22": Both(
        [Refused(gemini(GO, content("model", function(), function()), content("user", response())), (), "contents[1].parts[1]",
                 "the number of function response parts is equal to the number of function call parts", GOOGLE)],
        [Taken(gemini(GO, content("model", function(), function()), content("user", response(), response())), GOOGLE, "two and two")],
    ),
    "R23": Both(
        [Refused(gemini(GO, content("model", {"text": "Hm."}), content("model", function()), content("user", response())), (),
                 "contents[2]", "function call turn comes immediately after a user turn", GOOGLE)],
        [Taken(gemini(GO, content("model", {"text": "Hm."}, function()), content("user", response())), GOOGLE,
               "text and call in one content"),
         Taken(gemini(GO, content("model", function()), content("user", response()), content("model", function()),
                      content("user", response())), GOOGLE, "behind responses")],
    ),
    "R24": Both(
        [Refused(gemini(GO, content("model", {"text": "Hm."}), content("user", response())), (), "contents[2]",
                 "function response turn comes immediately after a function call turn", GOOGLE)],
        [Taken(gemini(GO, content("model", function()), content("function", response())), GOOGLE, "the role function")],
    ),
    "R25": Both(
        [Refused(gemini(GO, content("model", function()), content("user", response())), (), "contents[1].parts[0]",
                 "Function call is missing a thought_signature in functionCall parts.", GOOGLE_3)],
        [Taken(gemini(GO, content("model", function(signature="c2ln"), function()), content("user", response(), response())), GOOGLE_3,
               "parallel later calls have none"),
         Taken(gemini(GO, content("model", function()), content("user", response())), GOOGLE, "no Gemini 3"),
         Taken(gemini(GO, content("model", function()), content("user", response()), content("model", {"text": "Done."}),
                      content("user", {"text": "Thanks."})), GOOGLE_3, "an earlier turn")],
    ),
    "R26": Both(
        [Refused(gemini(GO, content("model", function()), content("user", response(""))), (), "contents[2].parts[0]",
                 "function_response.name: Name cannot be empty.", GOOGLE)],
        [Taken(gemini(GO, content("model", function()), content("user", response())), GOOGLE, "named")],
    ),
    "R27": Both(
        [Refused(gemini(GO, content("model"), content("user", {"text": "Well?"})), (), "contents[1]",
                 "contents.parts must not be empty.", GOOGLE)],
        [Taken(gemini(GO, content("model", {"text": ""}), content("user", {"text": "Well?"})), GOOGLE, "a part without words")],
    ),
    "R28": Both(
        [Refused(ollama(user(""), user("Well?")), (), "messages[0]",
                 "Ollama connector currently only supports user messages with TextContent or DataContent.", OLLAMA)],
        [Taken(ollama({"role": "user", "content": "", "images": ["aW1n"]}), OLLAMA, "an image")],
    ),
    "R29": Both(
        [Refused(ollama(user(), ollama_call('{"bed": 3}'), ollama_result()), (), "messages[1].tool_calls[0]",
                 "json: cannot unmarshal string into Go struct field", OLLAMA)],
        [Taken(ollama(user(), ollama_call({"bed": 3}), ollama_result()), OLLAMA, "an object"),
         Taken(chat(user(), calls("call_1"), tool("call_1"), model="qwen3"), OLLAMA.replace("/api/chat", "/v1/chat/completions"),
               "its OpenAI-compatible address takes text")],
    ),
    "R31": Both(
        [Refused(mistral(user(), calls("aaaaaaaa1", "aaaaaaaa2"), tool("aaaaaaaa1"), assistant(), user("Well?")), ("aaaaaaaa2",),
                 "messages[1].tool_calls[1]", "Not the same number of function calls and responses", MISTRAL)],
        [Taken(mistral(user(), calls("aaaaaaaa1", "aaaaaaaa2"), tool("aaaaaaaa1"), tool("aaaaaaaa2"), assistant(), user("Well?")),
               MISTRAL, "two and two")],
    ),
    "R32": Both(
        [Refused(mistral(user(), calls("null"), tool("null"), user("Well?")), ("null",), "messages[1].tool_calls[0]",
                 "Tool call id was null but must be a-z, A-Z, 0-9, with a length of 9.", MISTRAL)],
        [Taken(mistral(user(), calls("aB3dE6gH9"), tool("aB3dE6gH9"), user("Well?")), MISTRAL, "nine letters and digits")],
    ),
    "R33": Both(
        [Refused(mistral(user(), calls("aaaaaaaa1", "aaaaaaaa1"), tool("aaaaaaaa1"), tool("aaaaaaaa1"), user("Well?")), ("aaaaaaaa1",),
                 "messages[1].tool_calls[1]", "Duplicate tool call id aaaaaaaa1 in assistant message", MISTRAL, severity="warning")],
        [Taken(mistral(user(), calls("aaaaaaaa1"), tool("aaaaaaaa1"), assistant(), user("Again."), calls("aaaaaaaa1"), tool("aaaaaaaa1")),
               MISTRAL, "an id that is used again in another message")],
    ),
    "R34": Both(
        [Refused(mistral(user(), tool("aaaaaaaa1"), user("Well?")), ("aaaaaaaa1",), "messages[1]",
                 "Unexpected role 'tool' after role 'user'", MISTRAL, also=("R31", "R33")),
         Refused(mistral(user(), assistant()), (), "messages[1]", "Expected last role User or Tool", MISTRAL)],
        [Taken(mistral(user(), assistant() | {"prefix": True}), MISTRAL, "a prefix may be the last"),
         Taken(mistral(user(), calls("aaaaaaaa1"), tool("aaaaaaaa1")), MISTRAL, "a result may be the last")],
    ),
    "R35": Both(
        [Refused(converse(DO, turn("assistant", tool_use("call/1")), turn("user", tool_result("call/1", DRY))), ("call/1",),
                 "messages[1].content[0]", "failed to satisfy constraint", BEDROCK),
         Refused(converse(DO, turn("assistant", tool_use("t" * 65)), turn("user", tool_result("t" * 65, DRY))), ("t" * 65,),
                 "messages[1].content[0]", "failed to satisfy constraint", BEDROCK)],
        [Taken(converse(DO, turn("assistant", tool_use("call:1.2-x_y")), turn("user", tool_result("call:1.2-x_y", DRY))), BEDROCK,
               "every character that is allowed"),
         Taken(converse(DO, turn("assistant", tool_use("t" * 64)), turn("user", tool_result("t" * 64, DRY))), BEDROCK, "64 characters")],
    ),
    "R36": Both(
        [Refused(converse(DO, turn("assistant", tool_use("tu_1"), tool_use("tu_2")), turn("user", tool_result("tu_1", DRY))), ("tu_2",),
                 "messages[1].content[1]", "for the following Ids: tu_2", BEDROCK)],
        [Taken(converse(DO, turn("assistant", tool_use("tu_1"), tool_use("tu_2")),
                        turn("user", tool_result("tu_2", DRY), tool_result("tu_1", DRY))), BEDROCK, "in another order")],
    ),
    "R37": Both(
        [Refused(converse(DO, turn("assistant", {"text": "Hm."}), turn("user", tool_result("tu_1", DRY))), ("tu_1",),
                 "messages[2].content[0]", "exceeds the number of toolUse blocks of previous turn", BEDROCK)],
        [Taken(converse(DO, turn("assistant", {"text": "Hm."}, tool_use("tu_1")), turn("user", tool_result("tu_1", DRY))), BEDROCK,
               "text before the call")],
    ),
    "R38": Both(
        [Refused(converse(DO, turn("assistant", tool_use("tu_1")), turn("user", tool_result("tu_1", DRY), tool_result("tu_1", DRY))),
                 ("tu_1",), "messages[2].content[0]", "contain duplicate Ids: tu_1", BEDROCK)],
        [Taken(converse(DO, turn("assistant", tool_use("tu_1"), tool_use("tu_2")),
                        turn("user", tool_result("tu_1", DRY), tool_result("tu_2", DRY))), BEDROCK, "equal results of two calls")],
    ),
    "R39": Both(
        [Refused(converse(DO, turn("assistant", tool_use("tu_1")), turn("user", tool_result("tu_1", DRY)), tools=False), (),
                 "messages[1].content[0]", "The toolConfig field must be defined", BEDROCK)],
        [Taken(converse(DO, tools=False), BEDROCK, "no tool block")],
    ),
    "R40": Both(
        [Refused(converse(DO, turn("assistant", tool_use("tu_1")), turn("user", tool_result("tu_1", status="error"))), ("tu_1",),
                 "messages[2].content[0]", "cannot be empty when status value is error", BEDROCK)],
        [Taken(converse(DO, turn("assistant", tool_use("tu_1")), turn("user", tool_result("tu_1"))), BEDROCK, "an empty success"),
         Taken(converse(DO, turn("assistant", tool_use("tu_1")), turn("user", tool_result("tu_1", {"text": "stuck"}, status="error"))),
               BEDROCK, "an error that says something")],
    ),
}  # fmt: skip
