"""`curl -i` dumps: HTTP headers, then a body in any other format."""

from __future__ import annotations

from workbench.readers.lines import lines
from workbench.readers.reading import Reading
from workbench.readers.registry import Format, read_content


def read(reading: Reading) -> None:
    """Skip the headers (also those of redirects, proxies and `100 Continue`) and read the body."""
    content = reading.content
    number = content.first_line - 1
    body = content.end
    in_headers = False
    for offset, line in lines(content, reading.limits):
        number += 1
        if not in_headers:
            if line is None or not line.startswith(b"HTTP/"):
                body = offset
                break
            in_headers = True
            words = line.split()
            reading.status = int(words[1]) if len(words) > 1 and words[1].isdigit() else None
        elif line == b"":
            in_headers = False
            body = content.end
    else:
        number += 1
    reading.note("HTTP headers skipped")
    if body >= content.end:
        reading.remark("HTTP headers without a body", line=number, offset=content.end)
        reading.cut("no body after the HTTP headers")
        return
    read_content(reading.inside(content.view(body, first_line=number)))


FORMAT = Format(
    name="http-dump",
    title="HTTP dump (curl -i)",
    recognised_by="begins with `HTTP/`",
    extensions=(".txt",),
    recognise=lambda sniff: sniff.head.startswith(b"HTTP/"),
    read=read,
)
