"""What goes over the wire to an editor, and in whose words."""
