"""Fill-in-the-middle language models and the decoding loop that keeps them on the grammar."""

import os

# Matrices as small as the bundled model's are multiplied faster by one thread than by several.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
