"""Runs the generator and the C compiler before setuptools packs: build/ is made from spec/, never shipped as source.

With ORIC_MYPYC=1 in the environment the parser is compiled too; mypy has to be installed (`pip install --no-build-isolation`).
"""

import os
import sys
from pathlib import Path

from setuptools import Distribution, find_packages, setup

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "generator"))

from oricgen.commands.build import build  # noqa: E402
from oricgen.compiled import extensions  # noqa: E402
from oricgen.native import build_native  # noqa: E402

WHERE = ("runtime", "generator", "build")


class BinaryDistribution(Distribution):
    """The compiled C module lies in oric_tables, so the wheel is specific to the platform."""

    def has_ext_modules(self) -> bool:
        """Always: see the class."""
        return True


build(ROOT)
build_native(ROOT)

packages, package_dir = [], {}
for folder in WHERE:
    found = find_packages(folder, include=["oric", "oric.*", "oricgen", "oricgen.*", "oric_tables"])
    packages += found
    package_dir.update({name: f"{folder}/{name.replace('.', '/')}" for name in found})

compiled = extensions(ROOT) if os.environ.get("ORIC_MYPYC") == "1" else []
setup(packages=packages, package_dir=package_dir, ext_modules=compiled, distclass=BinaryDistribution)
