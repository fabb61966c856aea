"""The child that runs an operator: copied into each session, standard library and torch only, Python 3.8 syntax."""
