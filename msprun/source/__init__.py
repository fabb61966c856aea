"""Operator folders and their cases, read as data."""
