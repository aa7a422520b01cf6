"""Fill-in-the-middle language models, and the decoding loop that keeps their output on the grammar."""

import os

# One thread multiplies matrices as small as those of the mixing faster than several.
for _library in ("OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ.setdefault(_library, "1")

# Idle threads of torch sleep. Spinning, the default, takes more time than the work itself on a busy machine.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
