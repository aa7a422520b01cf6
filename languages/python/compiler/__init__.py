"""The refusals of CPython's compiler that its parser and a grammar cannot know: names and scopes."""
