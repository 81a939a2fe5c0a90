// Layers of networks, their losses and steps.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>
#define KERNEL extern "C" __global__ void
#define ALL 0xffffffffu

// A row a warp: greatest value and sum in one go, then the quotients.
KERNEL softmax_online(const float4 *__restrict__ in, float4 *__restrict__ o, int rows, int fours, float scale) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    in += (size_t)row * fours, o += (size_t)row * fours;
    float most = -INFINITY, sum = 0;
    for (int k = lane; k < fours; k += 32) {
        float4 v = in[k];
        v.x *= scale, v.y *= scale, v.z *= scale, v.w *= scale;
        float now = fmaxf(most, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
        sum = sum * __expf(most - now) + __expf(v.x - now) + __expf(v.y - now) + __expf(v.z - now) + __expf(v.w - now);
        most = now;
    }
    for (int step = 16; step; step /= 2) {
        float other = __shfl_xor_sync(ALL, most, step), more = __shfl_xor_sync(ALL, sum, step), now = fmaxf(most, other);
        sum = (most == now ? sum : sum * __expf(most - now)) + (other == now ? more : more * __expf(other - now));
        most = now;
    }
    float part = 1.f / sum;
    for (int k = lane; k < fours; k += 32) {
        float4 v = in[k];
        o[k] = make_float4(__expf(v.x * scale - most) * part, __expf(v.y * scale - most) * part,
                           __expf(v.z * scale - most) * part, __expf(v.w * scale - most) * part);
    }
}

// Sum with what went past a layer, mean and variance by Welford's rule, a row a block.
struct Moments {
    float mean, square, count;
    __device__ void add(float x) {
        count += 1;
        float d = x - mean;
        mean += d / count;
        square += d * (x - mean);
    }
    __device__ void join(const Moments &b) {
        float all = count + b.count;
        if (all == 0) return;
        float d = b.mean - mean, part = b.count / all;
        mean += d * part, square += b.square + d * d * count * part, count = all;
    }
};
KERNEL norm_welford(float *__restrict__ residual, const float *__restrict__ in, const float *__restrict__ gain,
                    const float *__restrict__ bias, float *__restrict__ o, float2 *statistics, int n, float epsilon) {
    __shared__ Moments parts[32];
    float *own = residual + blockIdx.x * n;
    Moments m = {0, 0, 0};
    for (int k = threadIdx.x; k < n; k += blockDim.x) {
        float x = own[k] + in[blockIdx.x * n + k];
        own[k] = x;
        m.add(x);
    }
#pragma unroll
    for (int step = 16; step; step /= 2) {
        Moments b;
        b.mean = __shfl_down_sync(ALL, m.mean, step), b.square = __shfl_down_sync(ALL, m.square, step);
        b.count = __shfl_down_sync(ALL, m.count, step);
        m.join(b);
    }
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = m;
    __syncthreads();
    m = parts[0];
    for (int w = 1; w < blockDim.x / 32; w++) m.join(parts[w]);
    float scale = rsqrtf(m.square / n + epsilon);
    for (int k = threadIdx.x; k < n; k += blockDim.x) o[blockIdx.x * n + k] = (own[k] - m.mean) * scale * gain[k] + bias[k];
    if (threadIdx.x == 0) statistics[blockIdx.x] = make_float2(m.mean, scale);
}

// One query against stored keys and values of 64 halves; a head a block, a warp takes each fourth key.
KERNEL attend_cached(const __half *q, const __half2 *keys, const __half2 *values, const int *lengths, __half2 *o, int room) {
    __shared__ float2 sums[4][32];
    __shared__ float mosts[4], totals[4];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, head = blockIdx.x, length = lengths[head];
    float2 query = __half22float2(((const __half2 *)(q + head * 64))[lane]), sum = {0, 0};
    float most = -1e30f, total = 0;
    for (int k = warp; k < length; k += 4) {
        float2 key = __half22float2(keys[(head * room + k) * 32 + lane]);
        float dot = query.x * key.x + query.y * key.y;
#pragma unroll
        for (int step = 1; step < 32; step *= 2) dot += __shfl_xor_sync(ALL, dot, step);
        dot *= 0.125f;
        float now = fmaxf(most, dot), keep = __expf(most - now), weight = __expf(dot - now);
        float2 value = __half22float2(values[(head * room + k) * 32 + lane]);
        sum.x = sum.x * keep + weight * value.x, sum.y = sum.y * keep + weight * value.y;
        total = total * keep + weight, most = now;
    }
    sums[warp][lane] = sum;
    if (lane == 0) mosts[warp] = most, totals[warp] = total;
    __syncthreads();
    if (warp) return;
    float top = fmaxf(fmaxf(mosts[0], mosts[1]), fmaxf(mosts[2], mosts[3])), all = 0;
    float2 result = make_float2(0, 0);
    for (int w = 0; w < 4; w++) {
        float factor = __expf(mosts[w] - top);
        all += factor * totals[w];
        result.x += factor * sums[w][lane].x, result.y += factor * sums[w][lane].y;
    }
    o[head * 32 + lane] = __floats2half2_rn(result.x / all, result.y / all);
}

// Images by channels, windows of SIDE by SIDE, zeros outside, bias and a leaky edge.
struct Shape { int channels, height, width, filters, out_height, out_width, pad; };
template <int SIDE, int STRIDE>
__device__ void convolve(const float *in, const float *weights, const float *bias, float *o, const Shape &s) {
    int place = blockIdx.x * blockDim.x + threadIdx.x, filter = blockIdx.y;
    if (place >= s.out_height * s.out_width) return;
    int y = place / s.out_width * STRIDE - s.pad, x = place % s.out_width * STRIDE - s.pad;
    float sum = bias[filter];
    for (int c = 0; c < s.channels; c++) {
        const float *plane = in + ((long long)blockIdx.z * s.channels + c) * s.height * s.width;
        const float *w = weights + (filter * s.channels + c) * SIDE * SIDE;
#pragma unroll
        for (int j = 0; j < SIDE; j++) {
            if (y + j < 0 || y + j >= s.height) continue;
#pragma unroll
            for (int i = 0; i < SIDE; i++)
                if (x + i >= 0 && x + i < s.width) sum += plane[(y + j) * s.width + x + i] * w[j * SIDE + i];
        }
    }
    o[((long long)blockIdx.z * s.filters + filter) * s.out_height * s.out_width + place] = sum > 0 ? sum : 0.01f * sum;
}
KERNEL conv_direct(const float *in, const float *weights, const float *bias, float *o, Shape s) {
    convolve<3, 2>(in, weights, bias, o, s);
}

// Products of many small matrices, tiles of 16 by 16, each thread two rows.
KERNEL gemm_batched(const float *a, const float *b, float *c, int m, int n, int k, float alpha, float beta, long long step_a,
                    long long step_b, long long step_c) {
    __shared__ float as[16][17], bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    a += blockIdx.z * step_a, b += blockIdx.z * step_b, c += blockIdx.z * step_c;
    float sums[2] = {};
    for (int base = 0; base < k; base += 16) {
        for (int h = 0; h < 16; h += 8) {
            as[ty + h][tx] = row + h < m && base + tx < k ? a[(row + h) * k + base + tx] : 0;
            bs[ty + h][tx] = base + ty + h < k && column < n ? b[(base + ty + h) * n + column] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; i++) {
            float x = bs[i][tx];
            sums[0] += as[ty][i] * x, sums[1] += as[ty + 8][i] * x;
        }
        __syncthreads();
    }
    for (int h = 0; h < 2; h++)
        if (row + 8 * h < m && column < n) {
            float *to = c + (row + 8 * h) * n + column;
            *to = beta == 0 ? alpha * sums[h] : alpha * sums[h] + beta * *to;
        }
}

// Means of rows of a table, as many as a bag has; one index stands for nothing.
KERNEL embedding_bags(const float4 *__restrict__ table, const int64_t *__restrict__ indices, const int *__restrict__ offsets,
                      float4 *__restrict__ o, int bags, int width, int64_t nothing) {
    int bag = blockIdx.x * blockDim.y + threadIdx.y;
    if (bag >= bags) return;
    for (int k = threadIdx.x; k < width; k += blockDim.x) {
        float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
        int count = 0;
        for (int i = offsets[bag]; i < offsets[bag + 1]; i++) {
            int64_t index = indices[i];
            if (index == nothing) continue;
            float4 v = table[index * width + k];
            sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
            count++;
        }
        float part = count ? 1.0f / count : 0.0f;
        o[bag * width + k] = make_float4(sum.x * part, sum.y * part, sum.z * part, sum.w * part);
    }
}

// Rows to whole numbers of eight bits and back: what is lost is stored beside them.
KERNEL quantise_rows(const float4 *in, char4 *codes, float *scales, float4 *lost, int fours) {
    __shared__ float maxima[2];
    const float4 *row = in + blockIdx.x * fours;
    float most = 0;
    for (int k = threadIdx.x; k < fours; k += 64) {
        float4 v = row[k];
        most = fmaxf(most, fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))));
    }
    for (int step = 16; step; step /= 2) most = fmaxf(most, __shfl_xor_sync(ALL, most, step));
    if ((threadIdx.x & 31) == 0) maxima[threadIdx.x >> 5] = most;
    __syncthreads();
    float scale = fmaxf(maxima[0], maxima[1]) / 127.f;
    if (threadIdx.x == 0) scales[blockIdx.x] = scale;
    for (int k = threadIdx.x; k < fours; k += 64) {
        float4 v = row[k];
        char4 c = make_char4(0, 0, 0, 0);
        if (scale > 0) c = make_char4(__float2int_rn(v.x / scale), rintf(v.y / scale), __float2int_rn(v.z / scale),
            rintf(v.w / scale));
        codes[blockIdx.x * fours + k] = c;
        lost[blockIdx.x * fours + k] = make_float4(__fsub_rn(v.x, __fmul_rn(c.x, scale)), __fsub_rn(v.y, __fmul_rn(c.y, scale)),
                                                   __fsub_rn(v.z, __fmul_rn(c.z, scale)), __fsub_rn(v.w, __fmul_rn(c.w, scale)));
    }
}

// A matrix of four bits an entry, eight a word, 32 with one scale and zero, times a vector of halves; a row a warp.
KERNEL gemv_int4(const uint32_t *packed, const __half *scales, const uint8_t *zeros, const __half *x, float *y, int rows,
    int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0.f;
    for (int word = lane; word < columns / 8; word += 32) {
        uint32_t w = packed[row * (columns / 8) + word];
        int group = row * (columns / 32) + word / 4;
        int zero = zeros[group / 2] >> (group & 1) * 4 & 15;
        float part = 0.f;
        const __half2 *pairs = reinterpret_cast<const __half2 *>(x) + word * 4;
        for (int k = 0; k < 4; k++) {
            float2 v = __half22float2(pairs[k]);
            part += (int(w >> 8 * k & 15) - zero) * v.x + (int(w >> (8 * k + 4) & 15) - zero) * v.y;
        }
        sum += part * __half2float(scales[group]);
    }
    for (int step = 16; step; step >>= 1) sum += __shfl_down_sync(ALL, sum, step);
    if (!lane) y[row] = sum;
}

// A step of AdamW; gradients of halves, scaled; a step is left out where a flag says that they overflowed.
struct Rates { float rate, first, second, epsilon, decay, scale; int turn; };
KERNEL adam_step(float *weights, const __half *gradients, float *means, float *squares, __half *copy, const int *overflow,
    int n, Rates r) {
    if (*overflow) return;
    float first = 1 - powf(r.first, r.turn), second = 1 - powf(r.second, r.turn);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float g = __half2float(gradients[i]) / r.scale, w = weights[i];
        float m = r.first * means[i] + (1 - r.first) * g, v = r.second * squares[i] + (1 - r.second) * g * g;
        means[i] = m, squares[i] = v;
        w -= r.rate * (m / first / (sqrtf(v / second) + r.epsilon) + r.decay * w);
        weights[i] = w;
        copy[i] = __float2half(w);
    }
}

// The greatest K of a row, a row a warp: each lane keeps its own in order, then the warp takes the best first.
template <int K>
__device__ void best_of_row(const float *row, int n, float *values, int *places) {
    float best[K];
    int at[K], lane = threadIdx.x & 31;
    for (int k = 0; k < K; k++) best[k] = -INFINITY, at[k] = 0x7fffffff;
    for (int i = lane; i < n; i += 32) {
        float x = row[i];
        if (x <= best[K - 1]) continue;
        best[K - 1] = x, at[K - 1] = i;
#pragma unroll
        for (int k = K - 1; k > 0; k--)
            if (best[k] > best[k - 1]) {
                float y = best[k];
                best[k] = best[k - 1], best[k - 1] = y;
                int p = at[k];
                at[k] = at[k - 1], at[k - 1] = p;
            }
    }
    for (int turn = 0; turn < K; turn++) {
        float x = best[0];
        int p = at[0];
        for (int step = 16; step; step /= 2) {
            float other = __shfl_xor_sync(ALL, x, step);
            int place = __shfl_xor_sync(ALL, p, step);
            if (other > x || (other == x && place < p)) x = other, p = place;
        }
        if (p == at[0]) {
#pragma unroll
            for (int k = 0; k + 1 < K; k++) best[k] = best[k + 1], at[k] = at[k + 1];
            best[K - 1] = -INFINITY, at[K - 1] = 0x7fffffff;
        }
        if (lane == 0) values[turn] = x, places[turn] = p;
    }
}
KERNEL top_k_rows(const float *in, float *values, int *places, int rows, int n) {
    int row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (row < rows) best_of_row<5>(in + row * n, n, values + row * 5, places + row * 5);
}

// Loss of a row of scores with smoothed labels, and its gradient in their place; a row a block.
__device__ float over_block(float x, bool sum, float *room) {
    for (int step = 16; step; step /= 2) {
        float y = __shfl_xor_sync(ALL, x, step);
        x = sum ? x + y : fmaxf(x, y);
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = x;
    __syncthreads();
    x = room[0];
    for (int w = 1; w < (int)blockDim.x / 32; w++) x = sum ? x + room[w] : fmaxf(x, room[w]);
    return x;
}
KERNEL entropy_loss(float *scores, const long long *labels, float *losses, double *total, int n, float smooth,
    long long ignored) {
    __shared__ float room[32];
    long long label = labels[blockIdx.x];
    float *row = scores + blockIdx.x * n;
    if (label == ignored) {
        for (int k = threadIdx.x; k < n; k += blockDim.x) row[k] = 0;
        if (threadIdx.x == 0) losses[blockIdx.x] = 0;
        return;
    }
    float most = -INFINITY, sum = 0, plain = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) most = fmaxf(most, row[k]);
    most = over_block(most, false, room);
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += expf(row[k] - most), plain += row[k];
    sum = over_block(sum, true, room), plain = over_block(plain, true, room);
    float all = logf(sum) + most;
    if (threadIdx.x == 0) {
        float loss = (1 - smooth) * (all - row[label]) + smooth * (all - plain / n);
        losses[blockIdx.x] = loss;
        atomicAdd(reinterpret_cast<unsigned long long *>(total), (unsigned long long)llrint(loss * 1048576.0));
    }
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += blockDim.x) row[k] = expf(row[k] - all) - smooth / n - (k == label ? 1 - smooth : 0);
}

// Pairs of a head turned by their place, numbers of sixteen bits with a short mantissa; half of the pairs' partners lie apart.
KERNEL rope_bf16(__nv_bfloat16 *heads, const int *places, int head_count, int size, float base) {
    int half = size / 2, place = places[blockIdx.x];
    for (int t = threadIdx.x; t < head_count * half; t += blockDim.x) {
        int head = t / half, k = t % half;
        float s, c, angle = place * powf(base, -2.f * k / size);
        sincosf(angle, &s, &c);
        __nv_bfloat16 *at = heads + (blockIdx.x * head_count + head) * size + k;
        float x = __bfloat162float(at[0]), y = __bfloat162float(at[half]);
        at[0] = __float2bfloat16(x * c - y * s);
        at[half] = __float2bfloat16(x * s + y * c);
    }
}
