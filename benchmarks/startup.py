"""Cold start of ``acidtest suites`` against importing NumPy and Polars alone."""

from __future__ import annotations

import subprocess
import sys

from race import median_seconds, told


def main() -> None:
    commands = {
        "python -c 'import numpy, polars'": [sys.executable, "-c", "import numpy, polars"],
        "acidtest suites": [sys.executable, "-m", "acidtest", "suites"],
        "python -c 'import acidtest'": [sys.executable, "-c", "import acidtest"],
    }
    times = {
        name: median_seconds(lambda command=command: subprocess.run(command, check=True, capture_output=True), times=11)
        for name, command in commands.items()
    }
    base = next(iter(times.values()))
    told("startup", [{"what": name, "seconds": value, "ratio": value / base} for name, value in times.items()])


if __name__ == "__main__":
    main()
