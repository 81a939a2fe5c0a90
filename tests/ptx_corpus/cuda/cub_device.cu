// CUB's device-wide algorithms: the kernels that their host side launches.
#include <cub/cub.cuh>
#include <cuda/std/functional>

#ifndef PART
#define PART 0
#endif

template <typename T>
cudaError_t part(void *tmp, size_t &n, T *a, T *b, int *flags, int count) {
#if PART == 0
  cub::DeviceReduce::Sum(tmp, n, a, b, count);
  cub::DeviceReduce::ArgMin(tmp, n, a, (cub::KeyValuePair<int, T> *)b, count);
  return cub::DeviceReduce::ReduceByKey(tmp, n, a, a, b, b, flags, cuda::std::plus<>{}, count);
#elif PART == 1
  cub::DeviceScan::ExclusiveSum(tmp, n, a, b, count);
  return cub::DeviceScan::InclusiveScan(tmp, n, a, b, cuda::maximum<>{}, count);
#elif PART == 2
  return cub::DeviceRadixSort::SortPairs(tmp, n, a, b, flags, flags, count);
#elif PART == 3
  cub::DeviceSelect::Flagged(tmp, n, a, flags, b, flags, count);
  cub::DeviceSelect::Unique(tmp, n, a, b, flags, count);
  return cub::DeviceRunLengthEncode::Encode(tmp, n, a, b, flags, flags, count);
#elif PART == 4
  cub::DevicePartition::Flagged(tmp, n, a, flags, b, flags, count);
  return cub::DeviceMergeSort::SortKeys(tmp, n, a, count, [] __device__(T x, T y) { return x > y; });
#elif PART == 5
  cub::DeviceSegmentedReduce::Max(tmp, n, a, b, count, flags, flags + 1);
  cub::DeviceSegmentedSort::SortKeys(tmp, n, a, b, count, 10, flags, flags + 1);
  return cub::DeviceFor::Bulk(count, [=] __device__(int i) { b[i] = a[i] * T(2); });
#elif PART == 6
  cub::DeviceHistogram::HistogramEven(tmp, n, a, flags, 65, T(0), T(64), count);
  cub::DeviceAdjacentDifference::SubtractLeftCopy(tmp, n, a, b, count);
  return cub::DeviceTransform::Transform(cuda::std::make_tuple(a, b), b, count, [] __device__(T x, T y) { return x - y; });
#else
  cub::DeviceMerge::MergeKeys(tmp, n, a, count, b, count, a + count);
  return cub::DeviceMemcpy::Batched(tmp, n, (void **)a, (void **)b, flags, count);
#endif
}
template cudaError_t part<TYPE>(void *, size_t &, TYPE *, TYPE *, int *, int);
