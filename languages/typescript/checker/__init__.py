"""The types of TypeScript by its own compiler: the copies that it sees, and the errors that count."""
