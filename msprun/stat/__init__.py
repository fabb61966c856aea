"""The only statistics of msprun: what counts, how sure it is, when to stop."""
