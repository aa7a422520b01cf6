"""Fill-in-the-middle language models and the decoding loop that keeps them on the grammar."""

import os

# One thread each for matrices as small as the bundled model's: more only wait for each other (5 times slower when busy).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
