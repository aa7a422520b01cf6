"""Names at a cursor: where one may stand, which are known there, and what the two say of a continuation."""
