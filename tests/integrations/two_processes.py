"""One of two processes that evaluate together: what it asked, what it knows, and the error when asking fails."""

from __future__ import annotations

import sys
from pathlib import Path

# The folder of this file, and that of the helpers shared by all tests.
sys.path.extend(map(str, Path(__file__).parents[:2]))

import test_trainer
import torch

import acidtest
from acidtest.integrations import trainer as module

asked = []
ask = module.run


def counted(*arguments: object, **options: object) -> object:
    asked.append(arguments)
    return ask(*arguments, **options)  # type: ignore[arg-type]


module.run = counted  # type: ignore[assignment]
suite = acidtest.generate("hans", n=1)
folder = Path(sys.argv[1])
trainer = test_trainer.make_trainer(folder / "training", module.AcidtestCallback(suite, limit=None))
assert trainer.args.world_size == 2
value = trainer.evaluate()["eval_acidtest_hans"]
assert test_trainer.logged(trainer) == [value]
lines = [f"asked {len(asked)} time{'' if len(asked) == 1 else 's'}: {value}"]
with torch.no_grad():
    trainer.model.classifier.weight.fill_(float("nan"))
try:
    trainer.evaluate()
except acidtest.AcidtestError as error:
    lines.append(f"{type(error).__name__}: {error}")
(folder / f"{trainer.args.process_index}.txt").write_text("\n".join(lines))
torch.distributed.destroy_process_group()
