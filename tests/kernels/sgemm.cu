// C = alpha A B + beta C (row major): 32 x 32 tiles of C, 16 x 16 threads, each with a 2 x 2 patch; any M, N, K.
#define TILE 32
#define DEPTH 16

extern "C" __global__ void sgemm(int m, int n, int k, float alpha, const float *__restrict__ a,
                                 const float *__restrict__ b, float beta, float *__restrict__ c)
{
    __shared__ float as[DEPTH][TILE + 1];
    __shared__ float bs[DEPTH][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    float acc[2][2] = {{0.0f, 0.0f}, {0.0f, 0.0f}};
    for (int k0 = 0; k0 < k; k0 += DEPTH) {
        for (int h = 0; h < 2; h++) {
            int r = row0 + ty + 16 * h, kk = k0 + tx;
            as[tx][ty + 16 * h] = (r < m && kk < k) ? a[r * k + kk] : 0.0f;
            int cc = col0 + tx + 16 * h, kr = k0 + ty;
            bs[ty][tx + 16 * h] = (kr < k && cc < n) ? b[kr * n + cc] : 0.0f;
        }
        __syncthreads();
        for (int p = 0; p < DEPTH; p++)
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++)
                    acc[i][j] = fmaf(as[p][ty + 16 * i], bs[p][tx + 16 * j], acc[i][j]);
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            int r = row0 + ty + 16 * i, cc = col0 + tx + 16 * j;
            if (r < m && cc < n)
                c[r * n + cc] = alpha * acc[i][j] + beta * c[r * n + cc];
        }
}
