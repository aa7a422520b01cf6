"""Fill-in-the-middle language models and the decoding loop that keeps them on the grammar."""

import os

# Matrices as small as the bundled model's are multiplied faster by one thread than by several.
for _library in ("OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ.setdefault(_library, "1")

# Threads of torch that have nothing to do sleep; else they would spin, and on a busy machine that takes more
# time than the work itself.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
