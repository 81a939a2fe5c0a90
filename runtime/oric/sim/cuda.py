"""A GPU as the device of ``oric run``: the driver API through the official package cuda-bindings."""

from __future__ import annotations

import importlib
from typing import Any, Final

import numpy as np

from .arguments import Array
from .launchfile import LaunchFile, LaunchFileError, Step
from .run import DeviceError, Outcome

_BINDINGS: Final = ("cuda.bindings.driver", "cuda.cuda")  # the name today, and before version 12.6
_DEFAULT_SHARED: Final = 48 << 10  # above it a kernel must be told


def _bindings() -> Any:
    for name in _BINDINGS:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise DeviceError("the package cuda-bindings is not installed (pip install cuda-bindings)")


class Cuda:
    """The first GPU, with the file's module and buffers on it."""

    def __init__(self, file: LaunchFile, image: bytes) -> None:
        self.api = _bindings()
        self.file = file
        try:
            self.call("cuInit", 0)
            count = self.call("cuDeviceGetCount")
        except (DeviceError, RuntimeError) as error:  # RuntimeError: the bindings find no libcuda
            raise DeviceError(f"no CUDA driver that can be used: {error}") from error
        if count == 0:
            raise DeviceError("the CUDA driver finds no GPU")
        device = self.call("cuDeviceGet", 0)
        self.name = self.call("cuDeviceGetName", 100, device).split(b"\0")[0].decode()
        self.call("cuCtxSetCurrent", self.call("cuDevicePrimaryCtxRetain", device))
        try:
            self.module = self.call("cuModuleLoadData", image)
        except DeviceError as error:
            raise DeviceError(f"{self.name} does not load {file.cubin.name}: {error}") from error
        self.memory: dict[str, Any] = {}
        for name, array in file.arrays.items():
            self.memory[name] = (
                self._global(name, array) if name in file.globals else self.call("cuMemAlloc", max(array.nbytes, 1))
            )
            if array.nbytes and file.globals.get(name, True):
                host = np.ascontiguousarray(array)
                self.call("cuMemcpyHtoD", self.memory[name], host.ctypes.data, host.nbytes)

    def call(self, name: str, *args: Any) -> Any:
        """Call a function of the driver API; returns its result (None, a value or a tuple).

        Raises:
            DeviceError: it returned anything but CUDA_SUCCESS.
        """
        status, *values = getattr(self.api, name)(*args)
        if int(status) != 0:
            raise DeviceError(f"{name}: {getattr(status, 'name', status)}")
        return values[0] if len(values) == 1 else tuple(values) or None

    def _global(self, name: str, array: Array) -> Any:
        try:
            address, size = self.call("cuModuleGetGlobal", self.module, name.encode())
        except DeviceError as error:
            raise LaunchFileError(f"globals.{name}: {error}") from error
        if size < array.nbytes:
            raise LaunchFileError(f"globals.{name}: the variable has {size} bytes, {array.nbytes} are asked for")
        return address

    def launch(self, step: Step) -> Outcome:
        """Run a launch to its end; its time is that between two events on the device."""
        try:
            function = self.call("cuModuleGetFunction", self.module, step.kernel.encode())
        except DeviceError as error:
            raise DeviceError(f"kernel '{step.kernel}': {error}") from error
        if step.shared_bytes > _DEFAULT_SHARED:
            attribute = self.api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self.call("cuFuncSetAttribute", function, attribute, step.shared_bytes)
        values = [self._argument(p.name, p.value) for p in step.params]
        pointers = np.array([v.ctypes.data for v in values] or [0], np.uint64)
        first, second = self.call("cuEventCreate", 0), self.call("cuEventCreate", 0)
        try:
            self.call("cuEventRecord", first, 0)
            self._start(function, step, pointers.ctypes.data)
            self.call("cuEventRecord", second, 0)
            self.call("cuCtxSynchronize")
        except DeviceError as error:
            raise DeviceError(f"kernel {step.kernel} on {self.name}: {error}") from error
        return Outcome(step.kernel, float(self.call("cuEventElapsedTime", first, second)) / 1e3)

    def _argument(self, name: str, value: Any) -> Array:
        """The bytes of a parameter, which must live until the launch."""
        if isinstance(value, np.ndarray):
            return np.array([int(self.memory[name])], np.uint64)
        return np.frombuffer(value if isinstance(value, bytes) else value.tobytes(), np.uint8).copy()

    def _start(self, function: Any, step: Step, pointers: int) -> None:
        grid, block = ((*size, 1, 1)[:3] for size in (step.grid, step.block))
        if step.cluster is None:
            self.call("cuLaunchKernel", function, *grid, *block, step.shared_bytes, 0, pointers, 0)
            return
        config, attribute = self.api.CUlaunchConfig(), self.api.CUlaunchAttribute()
        attribute.id = self.api.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        config.gridDimX, config.gridDimY, config.gridDimZ = grid
        config.blockDimX, config.blockDimY, config.blockDimZ = block
        shape = attribute.value.clusterDim
        shape.x, shape.y, shape.z = (*step.cluster, 1, 1)[:3]
        config.sharedMemBytes, config.hStream = step.shared_bytes, 0
        config.attrs, config.numAttrs = [attribute], 1
        self.call("cuLaunchKernelEx", config, function, pointers, 0)

    def take(self) -> dict[str, Array]:
        """What the buffers and module variables hold now."""
        out = {}
        for name, array in self.file.arrays.items():
            out[name] = np.empty(array.shape, array.dtype)
            if array.nbytes:
                self.call("cuMemcpyDtoH", out[name].ctypes.data, self.memory[name], array.nbytes)
        return out
