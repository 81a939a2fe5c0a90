"""Runs the generator, the C compiler and mypyc before setuptools packs: build/ is made from spec/, never shipped as source."""

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
    found = find_packages(folder, include=["oric", "oric.*", "oricgen", "oricgen.*", "oric_tables", "oric_rules"])
    packages += found
    package_dir.update({name: f"{folder}/{name.replace('.', '/')}" for name in found})

setup(packages=packages, package_dir=package_dir, ext_modules=extensions(ROOT), distclass=BinaryDistribution)
