"""Families of events, categories and counts."""
