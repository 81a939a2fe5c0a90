"""Run in the changed copy of the project: compiles the sample kernels for its new targets and runs them.

Argument: the folder of the copy.
"""

import sys
from pathlib import Path

import oric
from oric.cli import main
from oric.support.elf import read
from oric_tables.targets import TARGETS

from tests.kernels import cases

# new target, the one whose kernels it takes, its encoding model, kernels: the copy knows nothing of them but rows of YAML
KERNELS = {
    "sm_85": ("sm_80", "sm_86", ("saxpy", "histogram", "reduction", "switch", "half2")),
    "sm_99": ("sm_90", "sm_90", ("saxpy", "softmax", "vecadd_f64", "sgemm", "transpose")),
}


def check_kernels(target: str, base: str, files: tuple[str, ...]) -> None:
    for file in files:
        text = cases.ptx(file, base).replace(f".target {base}", f".target {target}").replace(".version 7.0", ".version 9.0")
        assert f".target {target}" in text
        for level in (0, 3):
            cubin = oric.compile(text, arch=target, opt_level=level, verify=True)
            module = oric.sim.load(cubin.image)
            found = [case for case in cases.CASES if case.file == file]
            assert found
            for case in found[-2:]:
                for step in case.build():
                    module.launch(step.kernel, grid=step.grid, block=step.block, args=step.args)
                    step.check()
        assert read(cubin.image).target == target
        Path(f"{file}.{target}.cubin").write_bytes(cubin.image)


if __name__ == "__main__":
    assert (oric.__file__ or "").startswith(sys.argv[1]), oric.__file__
    for name, (base, model, files) in KERNELS.items():
        assert TARGETS[name].isa_name == model
        check_kernels(name, base, files)
    sys.exit(main(["disasm", "saxpy.sm_85.cubin"]) or main(["disasm", "sgemm.sm_99.cubin"]))
