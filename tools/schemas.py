"""Write the JSON Schema of every study's result to ``src/acidtest/data/schemas``.

python tools/schemas.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_type_hints

from acidtest.core.serialise import json_schema
from acidtest.core.study import STUDIES

FOLDER = Path(__file__).resolve().parent.parent / "src" / "acidtest" / "data" / "schemas"


def main() -> None:
    """Write a file for each study, and remove those of studies that are gone."""
    FOLDER.mkdir(exist_ok=True)
    for name in STUDIES:
        kind = get_type_hints(STUDIES[name].compute)["return"]
        text = json.dumps(json_schema(kind, title=f"acidtest {name} --json"), indent=1)
        (FOLDER / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
    for path in FOLDER.glob("*.json"):
        if path.stem not in set(STUDIES):
            path.unlink()


if __name__ == "__main__":
    main()
