"""What CPython's compiler refuses although its parser accepts it, where no grammar tells: names, scopes."""
