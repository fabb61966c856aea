"""From sessions to measurements: who is asked what, when it stops, and what is kept of it."""
