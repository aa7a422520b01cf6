"""What is measured of the engine: operations, their time, growth with the length of the file, memory."""
