"""JSON Schemas as languages."""
