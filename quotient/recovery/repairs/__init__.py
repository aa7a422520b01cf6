"""The cheapest repair of one logical line, and text that is assumed where a file lacks it."""
