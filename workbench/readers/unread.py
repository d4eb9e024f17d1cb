"""Formats that are recognised but not read, each with what to do instead."""

from __future__ import annotations

from workbench.readers.registry import Format
from workbench.readers.sniff import Sniff

_PROVIDER_TYPES = frozenset({"message_start", "content_block_start", "content_block_delta", "message_delta"})


def _is_responses(sniff: Sniff) -> bool:
    kinds = sniff.types
    return bool(kinds) and sum(kind.startswith("response.") for kind in kinds) * 2 >= len(kinds)


def _is_provider_stream(sniff: Sniff) -> bool:
    if sniff.has_types or not (sniff.has_data_lines or sniff.is_lines):
        return False
    return b'"chat.completion.chunk"' in sniff.head or bool(_PROVIDER_TYPES & set(sniff.types))


RESPONSES = Format(
    "openai-responses", "OpenAI Responses stream (also agent-framework DevUI)", "types response.*", (".sse",),
    _is_responses,
    advice="it is no AG-UI stream; open the capture of the AG-UI endpoint",
)  # fmt: skip
PROVIDER_STREAM = Format(
    "provider-stream", "Stream of a model provider", "chunks of a chat completion or of a message", (".sse",),
    _is_provider_stream,
    advice="it is no AG-UI stream; open the capture of the AG-UI endpoint",
)  # fmt: skip
