"""Modules of thousands of lines, and launch files for one kernel of them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np

from tests.kernels import cases

TARGET = "sm_90"
NAMES = ("sgemm", "reduction", "softmax", "histogram", "collatz", "divrem", "switch", "tables")
_HEAD = ".address_size 64"


@cache
def large() -> str:
    """Several kernels of the tests in one module, with the comments of the compiler that made them."""
    first, *others = (cases.ptx(name, TARGET) for name in NAMES)
    return first + "".join(text.partition(_HEAD)[2] for text in others)


def launch_file(folder: Path, name: str, expected: bool = True) -> Path:
    """The first launch of a case as a launch file, with its arrays beside it."""
    (step, *_) = next(case for case in cases.CASES if case.name == name).build()
    params, wanted = [], {}
    for number, value in enumerate(step.args):
        entry: dict[str, object] = {"name": f"a{number}"}
        if isinstance(value, np.ndarray):
            np.save(folder / f"a{number}.npy", value)
            entry |= {"dtype": str(value.dtype), "shape": list(value.shape), "init": {"file": f"a{number}.npy"}}
            np.save(folder / f"want{number}.npy", step.expected.get(number, value))
            wanted[f"a{number}"] = {"init": {"file": f"want{number}.npy"}, "rtol": step.rtol, "atol": step.atol}
        elif isinstance(value, bytes):
            entry["bytes"] = value.hex()
        else:
            typed = (
                np.asarray(value)
                if isinstance(value, np.generic)
                else np.asarray(value, "f4" if isinstance(value, float) else "i4")
            )
            entry |= {"dtype": str(typed.dtype), "value": typed.item()}
        params.append(entry)
    launch = {
        "cubin": "unused.cubin",
        "kernel": step.kernel,
        "grid": list(step.grid),
        "block": list(step.block),
        "params": params,
    }
    if expected:
        launch["expected"] = wanted
    path = folder / "run.json"
    path.write_text(json.dumps(launch))
    return path
