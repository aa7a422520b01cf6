"""The rules of CPython's compiler that no grammar tells, for each kind of syntax, and the scopes of names."""
