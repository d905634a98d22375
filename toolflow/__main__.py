"""``python -m toolflow``: the same as the program ``toolflow``."""

import sys

from toolflow.cli import main

sys.exit(main())
