"""Scenario files: schema, YAML with positions, extends, overrides, --set, checks, expectations."""
