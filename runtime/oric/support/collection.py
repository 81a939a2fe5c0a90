"""The collector of cycles, switched off for a while."""

from __future__ import annotations

import gc


class no_collection:  # used like a function
    """No collection inside: parsing and compiling make many objects and few cycles that die in it, so it only costs time."""

    __slots__ = ("collecting",)

    def __enter__(self) -> None:
        self.collecting = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self.collecting:
            gc.enable()
