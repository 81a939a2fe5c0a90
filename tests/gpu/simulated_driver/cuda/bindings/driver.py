"""A stand-in for `cuda.bindings.driver` that launches in the functional simulator: proves the bundle's runner without a GPU.

Only what runner.py calls. Device memory is that of the module loaded last, as the runner loads one at a time.
ORIC_TEST_CAPABILITY ("9.0") is the device's compute capability, "" = there is no device.
"""

from __future__ import annotations

import ctypes
import enum
import os
import time
from typing import Any

from oric import sim


class CUresult(enum.IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_NOT_FOUND = 500
    CUDA_ERROR_LAUNCH_FAILED = 719


class CUdevice_attribute(enum.IntEnum):
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76


class _Names:
    """An enumeration whose members are their own names."""

    def __getattr__(self, name: str) -> str:
        return name


CUtensorMapDataType = CUtensorMapSwizzle = CUtensorMapInterleave = CUtensorMapL2promotion = CUtensorMapFloatOOBfill = _Names()
cuuint32_t = cuuint64_t = int
OK = CUresult.CUDA_SUCCESS
_state: dict[str, Any] = {"module": None, "fault": False}
_buffers: dict[int, sim.Buffer] = {}


def cuInit(flags: int) -> tuple[CUresult]:
    return (OK,)


def cuDeviceGetCount() -> tuple[CUresult, int]:
    return OK, 1 if os.environ["ORIC_TEST_CAPABILITY"] else 0


def cuDeviceGet(ordinal: int) -> tuple[CUresult, int]:
    return OK, ordinal


def cuDeviceGetName(size: int, device: int) -> tuple[CUresult, bytes]:
    return OK, b"simulated device".ljust(size, b"\0")


def cuDeviceGetAttribute(attribute: CUdevice_attribute, device: int) -> tuple[CUresult, int]:
    return OK, int(os.environ["ORIC_TEST_CAPABILITY"].split(".")[attribute - 75])


def cuDevicePrimaryCtxRetain(device: int) -> tuple[CUresult, str]:
    return OK, "context"


def cuCtxSetCurrent(context: str) -> tuple[CUresult]:
    return (OK,)


def cuModuleLoadData(image: bytes) -> tuple[CUresult, sim.Module]:
    _state["fault"] = False
    _state["module"] = sim.load(image)
    return OK, _state["module"]


def cuModuleUnload(module: sim.Module) -> tuple[CUresult]:
    return (OK,)


def cuModuleGetFunction(module: sim.Module, name: bytes) -> tuple[CUresult, Any]:
    if name.decode() not in module.kernels:
        return CUresult.CUDA_ERROR_NOT_FOUND, None
    return OK, (module, name.decode())


def cuMemAlloc(size: int) -> tuple[CUresult, int]:
    buffer = _state["module"].buffer(size)
    _buffers[buffer.address] = buffer
    return OK, buffer.address


def cuModuleGetGlobal(module: sim.Module, name: bytes) -> tuple[CUresult, Any, int]:
    try:
        address, size = module.image.variable(name.decode())
    except sim.LoadError:
        return CUresult.CUDA_ERROR_NOT_FOUND, None, 0
    return OK, address, size


def cuMemFree(address: int) -> tuple[CUresult]:
    _buffers.pop(address).free()
    return (OK,)


def cuMemcpyHtoD(device: int, host: int, size: int) -> tuple[CUresult]:
    _state["module"].image.write(device, ctypes.string_at(host, size))
    return (OK,)


def cuMemcpyDtoH(host: int, device: int, size: int) -> tuple[CUresult]:
    ctypes.memmove(host, _state["module"].image.read(device, size), size)
    return (OK,)


def cuCtxSynchronize() -> tuple[CUresult]:
    return (CUresult.CUDA_ERROR_LAUNCH_FAILED if _state["fault"] else OK,)


def cuLaunchKernel(
    function: Any, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, shared: int, stream: int, params: int, extra: int
) -> tuple[CUresult]:
    module, name = function
    args = []
    for number, param in enumerate(module.image.cubin.kernels[name].params):
        place = ctypes.c_void_p.from_address(params + 8 * number).value
        args.append(ctypes.string_at(place, param.size))
    try:
        module.launch(name, (gx, gy, gz), (bx, by, bz), args, shared)
    except sim.ExecutionError:
        _state["fault"] = True
    return (OK,)


class _TensorMap:
    def __init__(self, data: bytes) -> None:
        self.data = ctypes.create_string_buffer(data, len(data))

    def getPtr(self) -> int:
        return ctypes.addressof(self.data)


def _tensor_map(kind: str, swizzle: str, interleave: str, fill: str, **tensor: Any) -> _TensorMap:
    assert interleave == "CU_TENSOR_MAP_INTERLEAVE_NONE"
    name = kind.removeprefix("CU_TENSOR_MAP_DATA_TYPE_").lower()
    made = sim.tensor_map if "box" in tensor else sim.tensor_map_im2col
    filled = {"NONE": "zero", "NAN_REQUEST_ZERO_FMA": "nan"}[fill.removeprefix("CU_TENSOR_MAP_FLOAT_OOB_FILL_")]
    known = swizzle.removeprefix("CU_TENSOR_MAP_SWIZZLE_")
    return _TensorMap(made(dtype=name, swizzle="none" if known == "NONE" else known, fill=filled, **tensor))


def cuTensorMapEncodeTiled(
    kind: str, rank: int, address: int, dims: list[int], strides: list[int], box: list[int], steps: list[int],
    interleave: str, swizzle: str, promotion: str, fill: str,
) -> tuple[CUresult, _TensorMap]:  # fmt: skip
    assert rank == len(dims)
    tensor = {"address": address, "dims": dims, "strides": strides, "element_strides": steps, "box": box}
    return OK, _tensor_map(kind, swizzle, interleave, fill, **tensor)


def cuTensorMapEncodeIm2col(
    kind: str, rank: int, address: int, dims: list[int], strides: list[int], lower: list[int], upper: list[int],
    channels: int, pixels: int, steps: list[int], interleave: str, swizzle: str, promotion: str, fill: str,
) -> tuple[CUresult, _TensorMap]:  # fmt: skip
    assert rank == len(dims)
    tensor = {"address": address, "dims": dims, "strides": strides, "element_strides": steps, "lower": lower, "upper": upper}
    return OK, _tensor_map(kind, swizzle, interleave, fill, **tensor, channels=channels, pixels=pixels)


def cuEventCreate(flags: int) -> tuple[CUresult, list[float]]:
    return OK, [0.0]


def cuEventRecord(event: list[float], stream: int) -> tuple[CUresult]:
    event[0] = time.perf_counter()
    return (OK,)


def cuEventSynchronize(event: list[float]) -> tuple[CUresult]:
    return (OK,)


def cuEventElapsedTime(first: list[float], second: list[float]) -> tuple[CUresult, float]:
    return OK, (second[0] - first[0]) * 1e3
