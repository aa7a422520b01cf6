"""The options that a client or the command line may set."""
