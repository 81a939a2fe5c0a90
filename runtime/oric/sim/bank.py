"""What a launch puts into constant bank 0: the driver's part of it (``spec/simulator.yaml``)."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from oric_tables.simulator import Device

SHARED_WINDOW: Final = 0x7F1000000000  # the lower 32 bits of a generic address are the address in the window
LOCAL_WINDOW: Final = 0x7F2000000000
_SMS: Final = 1  # the simulated device has one SM


def launch_values(
    device: Device, record: Any, number: int, explicit_cluster: bool, parameters: tuple[int, int], constants: int, workspace: int
) -> dict[str, bytes]:
    """Bytes of each value by name.

    Args:
        device: the simulated device.
        record: sizes of the launch (``oric_sim_launch *``).
        number: of the launch.
        explicit_cluster: whether kernel or caller gave a cluster's shape.
        parameters: address of a copy of the parameters in global memory, and their size.
        constants: address of the module's constants there.
        workspace: address of the barrier of a cooperative launch there, 0 for others.
    """
    grid, cluster = list(record.grid), list(record.cluster)
    size = cluster[0] * cluster[1] * cluster[2]
    first, end = parameters[0], parameters[0] + parameters[1]
    if not device.parameter_window:
        first, end = first - device.params, device.params + parameters[1]
    return {
        "ntid": _words(*record.block),
        "nctaid": _words(*grid),
        "shared_window": struct.pack("<Q", SHARED_WINDOW),
        "local_window": struct.pack("<Q", LOCAL_WINDOW),
        "stack": _words(record.local_bytes),
        "dynamic_shared": _words(record.dynamic_bytes),
        "sm_count": _words(_SMS),
        "grid_id": struct.pack("<Q", number),
        "reserved_shared": _words(device.shared_base),
        "reserved_end": _words(device.shared_base or record.shared_bytes),
        "reserved_1": _words(device.shared_base or record.shared_bytes),
        "shared_limit": _words(record.shared_bytes),
        "explicit_cluster": _words(explicit_cluster),
        "cluster_size": _words(*cluster),
        "cluster_inverse": b"".join(struct.pack("<f", _inverse(n)) for n in cluster),
        "clusters": _words(*(g // c for g, c in zip(grid, cluster, strict=True))),
        "cluster_ctas": _words(size),
        "graph_exec": struct.pack("<Q", 0),
        "envreg": _words(0),
        "constants": struct.pack("<Q", constants),
        "grid_workspace": _words(workspace >> 32, workspace & 0xFFFFFFFF),
        "parameters": struct.pack("<Q", first),
        "parameters_end": struct.pack("<Q", end),
    }


def _words(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}I", *numbers)


def _inverse(count: int) -> float:
    """1 / count, rounded up, so that a multiple of count times that is never below its quotient."""
    inverse = np.float32(1) / np.float32(count)
    return float(inverse if float(inverse) * count >= 1 else np.nextafter(inverse, np.float32(2)))
