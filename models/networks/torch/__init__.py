"""Any causal model of transformers, on a CPU or a GPU."""
