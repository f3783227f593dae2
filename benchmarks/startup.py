"""Cold start of the command line against importing NumPy and Polars alone."""

from __future__ import annotations

import subprocess
import sys

from race import parse_options, race, report, timing_rows

COMMANDS = {
    "python -c 'import numpy, polars'": ["-c", "import numpy, polars"],
    "python -c 'import acidtest'": ["-c", "import acidtest"],
    "acidtest --help": ["-m", "acidtest", "--help"],
    "acidtest suites": ["-m", "acidtest", "suites"],
}


def main() -> None:
    options = parse_options(__doc__, times=(7, 15))

    def start(arguments: list[str]) -> None:
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)

    contenders = {name: lambda arguments=arguments: start(arguments) for name, arguments in COMMANDS.items()}
    rows = timing_rows(race(contenders, times=options.times))
    # The work is done by other processes, so the processor time of this one says nothing.
    report("startup", [{name: value for name, value in row.items() if name != "processor_seconds"} for row in rows])


if __name__ == "__main__":
    main()
