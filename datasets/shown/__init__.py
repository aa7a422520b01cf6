"""The suggestions that users of the server see, compared with the code that really was at the cursor."""
