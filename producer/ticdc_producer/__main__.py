"""``python -m ticdc_producer``, and the program that ``spark-submit`` is given."""

import os
import sys


def _main() -> int:
    # spark-submit puts a program's own folder on the path: `kafka` and `spark` would be packages of ours.
    sys.path[:] = [entry for entry in sys.path if entry != os.path.dirname(__file__)]
    from ticdc_producer.cli import main

    return main()


sys.exit(_main())
