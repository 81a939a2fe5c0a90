"""Launches in order: streams and events, as the driver has them, carried out by one device at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from .module import Module
    from .statistics import Statistics


class Event:
    """A place in a stream: everything that was put into it before."""

    def __init__(self, stream: Stream, place: int) -> None:
        self._stream = stream
        self._place = place

    def synchronize(self) -> None:
        """Carry out what comes before the event."""
        self._stream._run(self._place)  # the two are one thing


class Stream:
    """Launches that wait until somebody asks for their results, and then run in the order in which they were given.

    What runs when between two streams is not said, but for events; here it is when one of them is synchronised.
    """

    def __init__(self, module: Module) -> None:
        self._module = module
        self._waiting: list[Callable[[], Statistics | None]] = []
        self._results: list[Statistics] = []
        self._done = 0

    def launch(self, *args: Any, **options: Any) -> None:
        """As `Module.launch`, later; arrays are read and written when it runs."""
        self._waiting.append(lambda: self._module.launch(*args, **options))

    def record(self) -> Event:
        """An event behind what is in the stream now."""
        return Event(self, self._done + len(self._waiting))

    def wait(self, event: Event) -> None:
        """What follows in this stream runs after the event."""
        self._waiting.append(event.synchronize)

    def synchronize(self) -> list[Statistics]:
        """Carry out all launches; returns the statistics of those since the last call.

        Raises:
            SimError: the first launch that fails; those behind it are dropped.
        """
        self._run(self._done + len(self._waiting))
        results, self._results = self._results, []
        return results

    def _run(self, place: int) -> None:
        while self._waiting and self._done < place:
            step = self._waiting.pop(0)
            self._done += 1
            try:
                result = step()
            except BaseException:
                self._done += len(self._waiting)
                self._waiting.clear()
                raise
            if result is not None:
                self._results.append(result)
