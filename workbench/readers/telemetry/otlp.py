"""OTLP in JSON: spans, log records and metrics, however they are wrapped and spelled.

Spans in the form of the specification, one export per line, go through `otlp_fast`; anything else
(snake_case, base64 ids, names of enums, instrumentationLibrary…) is walked.
"""

from __future__ import annotations

from workbench.readers import tolerant
from workbench.readers.telemetry import otlp_fast, otlp_rows, values
from workbench.readers.telemetry.nodes import Node
from workbench.readers.telemetry.writer import Place, SignalWriter

RESOURCES = {
    "resourceSpans": "span", "resource_spans": "span", "batches": "span", "resourceLogs": "log",
    "resource_logs": "log", "resourceMetrics": "metric", "resource_metrics": "metric",
}  # fmt: skip
SCOPES = {
    "scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans", "scopeLogs",
    "scope_logs", "instrumentationLibraryLogs", "instrumentation_library_logs", "scopeMetrics",
    "scope_metrics", "instrumentationLibraryMetrics", "instrumentation_library_metrics",
}  # fmt: skip
ITEMS = {"spans": "span", "logRecords": "log", "log_records": "log", "logs": "log", "metrics": "metric"}
_SCOPE = ("scope", "instrumentationLibrary", "instrumentation_library")


#: what a resource has beside its scopes
_BESIDE = frozenset({"resource", "schemaUrl", "schema_url"})


class OtlpReader:
    """Takes exports and appends what is in them."""

    def __init__(self, writer: SignalWriter) -> None:
        self.writer = writer
        self._fast = otlp_fast.FastSpans(writer, self._left)

    # -------------------------------------------------------------- the form of the specification

    def fast(self, data: bytes, line: int, base: int) -> bool:
        """Take an export of spans in the plain form on one line; False where it has to be walked."""
        if b"\n" in data:
            return False  # where each record has a line of its own
        try:
            export = otlp_fast.decode_export(data)
        except otlp_fast.FAILURES:
            return False
        if not all(resource.scopeSpans for resource in export.resourceSpans):
            return False  # nothing in it, or under a name that nobody knows
        end = 0
        for resource in export.resourceSpans:
            given = bytes(resource.resource)
            service = self.writer.code(otlp_rows.service_of(tolerant.decode(given).value) if given else None)
            for scope in resource.scopeSpans:
                end = self._fast.scope(scope, data, end, base, line, service)
        return True

    def _left(self, text: bytes, offset: int, line: int, scope: int, service: int) -> None:
        """A span of a plain export that is not in the plain form goes the tolerant way alone."""
        place = Place(line, offset, len(text))
        pool = self.writer.records.pool
        decoded = tolerant.decode(text)
        if not isinstance(decoded.value, dict):
            self._bad("a span that is no object", place, text)
            return
        row = otlp_rows.span_row(decoded.value)
        row.scope, row.service = pool.text(scope), pool.text(service)
        if decoded.repair:
            row.faults.append(decoded.repair)
        self.writer.span(row, "otlp", place)

    # -------------------------------------------------------------- any form

    def walk(self, members: dict[str, Node]) -> bool:
        """Take everything in an export, or in a bare ResourceSpans, ResourceLogs …; False if nothing fits."""
        found = False
        for key, node in members.items():
            if key in RESOURCES and node.first == "[":
                found = True
                for resource in node.elements():
                    self._resource(resource)
        if not found and SCOPES & members.keys():
            found = True
            self._scopes(members)
        return found

    def _resource(self, resource: Node) -> None:
        members = resource.members()
        if SCOPES & members.keys():
            self._scopes(members)
        elif resource.first != "{":
            self._bad("a resource that is no object", resource.place, resource.text)
        elif members.keys() - _BESIDE:
            self._bad("a resource without scopes", resource.place, resource.text)

    def _scopes(self, members: dict[str, Node]) -> None:
        given = members.get("resource")
        resource = given.value() if given is not None else None
        service = otlp_rows.service_of(resource)
        for key, scopes in members.items():
            if key not in SCOPES:
                continue
            self._list(scopes, "scopes")
            for scope in scopes.elements():
                inner = scope.members()
                if not inner and scope.first != "{":
                    self._bad("a scope that is no object", scope.place, scope.text)
                name = _scope_name(inner)
                for item, signal in ITEMS.items():
                    if item in inner:
                        self._list(inner[item], f"{item} of a scope")
                        for node in inner[item].elements():
                            self._item(signal, node, name, service)

    def item(self, signal: str, node: Node, resource: bytes | None, scope: bytes | None) -> None:
        """A record on its own, with its resource and scope as JSON."""
        named = tolerant.decode(scope).value if scope else None
        described = tolerant.decode(resource).value if resource else None
        name = values.word(named.get("name")) if isinstance(named, dict) else None
        self._item(signal, node, name, otlp_rows.service_of(described))

    def _item(self, signal: str, node: Node, scope: str | None, service: str | None) -> None:
        value = node.value()
        if not isinstance(value, dict):
            self._bad(
                f"a {'log record' if signal == 'log' else signal} that is no object", node.place, node.text
            )
        elif signal == "metric":
            self.writer.metric(otlp_rows.points_of(value))
        elif signal == "span":
            row = otlp_rows.span_row(value)
            row.scope, row.service = scope, service
            self.writer.span(row, "otlp", node.place)
        else:
            log = otlp_rows.log_row(value)
            log.logger, log.service = scope, service
            self.writer.log(log, "otlp", node.place)

    def _list(self, node: Node, what: str) -> None:
        """What should be an array and is something else is not passed over in silence."""
        if node.first not in ("[", "n"):
            self._bad(f"{what} that are no array", node.place, node.text)

    def _bad(self, reason: str, place: Place, text: bytes) -> None:
        self.writer.reading.problem(
            reason, line=place.line if place.line > 0 else None, offset=place.offset, data=text
        )


def _scope_name(members: dict[str, Node]) -> str | None:
    for key in _SCOPE:
        if key in members:
            scope = members[key].value()
            if isinstance(scope, dict):
                return values.word(scope.get("name"))
    return None
