"""``python -m ticdc_producer``."""

import sys

from ticdc_producer.cli import main

sys.exit(main())
