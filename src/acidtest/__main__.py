"""``python -m acidtest``."""

from acidtest.cli import main

if __name__ == "__main__":
    main()
