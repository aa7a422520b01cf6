"""The checker of whole scripts: what is in scope, what each expression is, what each statement may be."""
