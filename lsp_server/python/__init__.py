"""What the server knows about Python beyond its grammar; all of its policy for one language is here."""
