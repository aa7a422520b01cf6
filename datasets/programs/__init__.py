"""Problems with tests, such as HumanEval's: programs that a model writes, run against them."""
