"""Two client-side tool calls in one response are started twice."""
