"""``python -m ticdc_producer``, and the program for ``spark-submit``."""

import sys
from pathlib import Path

# spark-submit puts a program's own folder on the path; `kafka` and `spark` would then be our packages.
sys.path[:] = [entry for entry in sys.path if entry != str(Path(__file__).parent)]

from ticdc_producer.cli import main  # noqa: E402

sys.exit(main())
