// Physics, chances, sequences, numbers of many digits, calendars.
#include <stdint.h>
#define KERNEL extern "C" __global__ void

// Spins on a ring of rings: black and white places in turn, each with a generator of its own.
KERNEL ising_sweep(int8_t *spins, uint32_t *states, const uint32_t *chances, int *energy, int size, int sweeps) {
    extern __shared__ int8_t s[];
    __shared__ uint32_t limits[10];
    int t = threadIdx.y * blockDim.x + threadIdx.x, total = size * size, threads = blockDim.x * blockDim.y;
    for (int k = t; k < total; k += threads) s[k] = spins[k];
    if (t < 10) limits[t] = chances[t];
    uint32_t state = states[t];
    __syncthreads();
    for (int half = 0; half < 2 * sweeps; half++) {
        for (int k = t; k < total / 2; k += threads) {
            int y = 2 * k / size, x = 2 * k % size + ((y + half) & 1);
            int up = (y ? y - 1 : size - 1) * size + x, down = (y + 1 == size ? 0 : y + 1) * size + x;
            int left = y * size + (x + size - 1) % size, right = y * size + (x + 1) % size;
            int own = s[y * size + x], around = s[up] + s[down] + s[left] + s[right];
            state ^= state << 13, state ^= state >> 17, state ^= state << 5;
            if (state < limits[(own > 0 ? 5 : 0) + around / 2 + 2]) s[y * size + x] = -own;
        }
        __syncthreads();
    }
    int mine = 0;
    for (int k = t; k < total; k += threads) {
        int x = k % size, y = k / size;
        mine -= s[k] * (s[y * size + (x + 1) % size] + s[(y + 1) % size * size + x]);
        spins[k] = s[k];
    }
    states[t] = state;
    for (int step = 16; step; step /= 2) mine += __shfl_down_sync(0xffffffff, mine, step);
    if (t % 32 == 0) atomicAdd(energy, mine);
}

// Forces between particles in a box that repeats, pairs in tiles of shared memory, none beyond a distance.
struct __align__(16) Particle { float x, y, z, charge; };
__device__ __forceinline__ float shortest(float d, float box) { return d - box * rintf(d / box); }
KERNEL lj_forces(const Particle *__restrict__ particles, float4 *__restrict__ forces, int n, float box, float cutoff) {
    __shared__ Particle tile[32];
    int i = blockIdx.x * 32 + threadIdx.x;
    Particle own = particles[min(i, n - 1)];
    float4 sum = {0, 0, 0, 0};
    for (int base = 0; base < n; base += 32) {
        if (base + threadIdx.x < n) tile[threadIdx.x] = particles[base + threadIdx.x];
        __syncthreads();
        int count = min(32, n - base);
        for (int k = 0; k < count; k++) {
            float dx = shortest(own.x - tile[k].x, box), dy = shortest(own.y - tile[k].y, box),
                dz = shortest(own.z - tile[k].z, box);
            float square = dx * dx + dy * dy + dz * dz;
            if (base + k == i || square > cutoff * cutoff) continue;
            float inverse = 1 / square, six = inverse * inverse * inverse,
                coulomb = own.charge * tile[k].charge * sqrtf(inverse);
            float factor = (24 * six * (2 * six - 1) + coulomb) * inverse;
            sum.x += factor * dx, sum.y += factor * dy, sum.z += factor * dz;
            sum.w += 2 * six * (six - 1) + 0.5f * coulomb;
        }
        __syncthreads();
    }
    if (i < n) forces[i] = sum;
}

// A gas on a lattice of nine velocities: what streams in, walls that throw back, relaxation.
__constant__ int CX[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, CY[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1}, BACK[9] = {0, 3, 4, 1, 2, 7,
    8, 5, 6};
KERNEL boltzmann_step(const float *from, float *to, const uint8_t *wall, float2 *velocity, int width, int height, float omega) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int size = width * height, place = y * width + x;
    float f[9], density = 0, ux = 0, uy = 0;
    for (int k = 0; k < 9; k++) {
        int sx = (x - CX[k] + width) % width, sy = (y - CY[k] + height) % height;
        f[k] = from[k * size + sy * width + sx];
    }
    if (wall[place]) {
        for (int k = 0; k < 9; k++) to[k * size + place] = f[BACK[k]];
        velocity[place] = make_float2(0, 0);
        return;
    }
    for (int k = 0; k < 9; k++) density += f[k], ux += CX[k] * f[k], uy += CY[k] * f[k];
    ux /= density, uy /= density;
    float square = 1.5f * (ux * ux + uy * uy);
#pragma unroll
    for (int k = 0; k < 9; k++) {
        float along = 3 * (CX[k] * ux + CY[k] * uy), weight = k == 0 ? 4.f / 9 : k < 5 ? 1.f / 9 : 1.f / 36;
        f[k] += omega * (weight * density * (1 + along + 0.5f * along * along - square) - f[k]);
        to[k * size + place] = f[k];
    }
    velocity[place] = make_float2(ux, uy);
}

// Differential equations in steps of their own length (Bogacki and Shampine): an oscillator that damps itself.
struct Slope {
    double mu;
    __device__ double2 operator()(double2 p) const { return make_double2(p.y, mu * (1 - p.x * p.x) * p.y - p.x); }
};
__device__ __forceinline__ double2 ahead(double2 p, double h, double2 k) { return make_double2(p.x + h * k.x, p.y + h * k.y); }
KERNEL adaptive_steps(const double *mus, double2 *points, int *turns, double end, double tolerance, int limit) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, turn = 0;
    Slope slope = {mus[t]};
    double2 p = points[t], k1 = slope(p);
    double now = 0, h = 0.05;
    while (now < end && turn < limit) {
        h = fmin(h, end - now);
        double2 k2 = slope(ahead(p, 0.5 * h, k1)), k3 = slope(ahead(p, 0.75 * h, k2));
        double2 q = make_double2(p.x + h * (2 * k1.x + 3 * k2.x + 4 * k3.x) / 9, p.y + h * (2 * k1.y + 3 * k2.y + 4 * k3.y) / 9);
        double2 k4 = slope(q);
        double ex = h * (-5 * k1.x / 72 + k2.x / 12 + k3.x / 9 - k4.x / 8),
            ey = h * (-5 * k1.y / 72 + k2.y / 12 + k3.y / 9 - k4.y / 8);
        double error = fmax(fabs(ex), fabs(ey));
        if (error <= tolerance) now += h, p = q, k1 = k4;
        double factor = error > 0 ? 0.9 * cbrt(tolerance / error) : 4;
        h *= fmin(4.0, fmax(0.2, factor));
        turn++;
    }
    points[t] = p;
    turns[t] = turn;
}

// The volatility that a price of an option tells, by Newton's steps kept between bounds.
__device__ double normal(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
__device__ __noinline__ double call_price(double spot, double strike, double time, double rate, double sigma, double *vega) {
    double root = sigma * sqrt(time), d = (log(spot / strike) + (rate + 0.5 * sigma * sigma) * time) / root;
    *vega = spot * sqrt(time) * exp(-0.5 * d * d) * 0.39894228040143267794;
    return spot * normal(d) - strike * exp(-rate * time) * normal(d - root);
}
struct Quote { double spot, strike, time, price; };
KERNEL implied_volatility(const Quote *quotes, double *sigmas, int n, double rate) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Quote q = quotes[i];
    double low = 1e-4, high = 5, sigma = 0.3;
    for (int turn = 0; turn < 60; turn++) {
        double vega, off = call_price(q.spot, q.strike, q.time, rate, sigma, &vega) - q.price;
        if (fabs(off) < 1e-11 * q.spot) break;
        if (off > 0) high = sigma;
        else low = sigma;
        double next = sigma - off / vega;
        sigma = next > low && next < high ? next : 0.5 * (low + high);
    }
    sigmas[i] = sigma;
}

// Sequences side by side, gaps dear to open and cheap to go on: a warp a pair, a column a lane, down the diagonals.
KERNEL local_alignment(const char *first, const char *second, int *best, int columns, int rows, int match, int mismatch,
                       int open, int extend) {
    int lane = threadIdx.x, top = 0;
    const char *a = first + blockIdx.x * columns, *b = second + blockIdx.x * rows;
    char own = lane < columns ? a[lane] : 0;
    int score = 0, across = -10000, down = -10000, corner = 0;
    for (int step = 0; step < rows + 31; step++) {
        int left = __shfl_up_sync(0xffffffff, score, 1), left_across = __shfl_up_sync(0xffffffff, across, 1);
        if (lane == 0) left = 0, left_across = -10000;
        int row = step - lane;
        if (row >= 0 && row < rows && lane < columns) {
            across = max(left - open, left_across - extend);
            down = max(score - open, down - extend);
            int diagonal = corner + (b[row] == own ? match : mismatch);
            score = max(max(0, diagonal), max(across, down));
            top = max(top, score);
        }
        corner = left;
    }
#if __CUDA_ARCH__ >= 800
    top = __reduce_max_sync(0xffffffff, top);
#else
    for (int step = 16; step; step /= 2) top = max(top, __shfl_xor_sync(0xffffffff, top, step));
#endif
    if (lane == 0) best[blockIdx.x] = top;
}

// The game of life, 64 cells a word, sums of neighbours bit by bit; all goes round.
KERNEL life_sliced(const uint64_t *from, uint64_t *to, int words, int height) {
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= words * height) return;
    int y = w / words, x = w % words;
    uint64_t ones = 0, twos = 0, fours = 0;
    for (int dy = -1; dy <= 1; dy++) {
        const uint64_t *row = from + (y + dy + height) % height * words;
        uint64_t here = row[x], before = row[x ? x - 1 : words - 1], after = row[x + 1 < words ? x + 1 : 0];
        uint64_t sides[3] = {here << 1 | before >> 63, here >> 1 | after << 63, here};
        for (int k = 0; k < (dy ? 3 : 2); k++) {
            uint64_t carry = ones & sides[k];
            ones ^= sides[k];
            fours ^= twos & carry, twos ^= carry;  // eight is as none
        }
    }
    to[w] = twos & ~fours & (ones | from[w]);
}

// Products of Montgomery's kind of numbers of 256 bits, powers of them.
template <int N>
__device__ void product(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *m, uint32_t inverse) {
    uint32_t t[N + 2] = {};
#pragma unroll
    for (int i = 0; i < N; i++) {
        uint64_t carry = 0;
#pragma unroll
        for (int j = 0; j < N; j++) carry += (uint64_t)a[j] * b[i] + t[j], t[j] = carry, carry >>= 32;
        carry += t[N], t[N] = carry, t[N + 1] = carry >> 32;
        uint32_t q = t[0] * inverse;
        carry = ((uint64_t)q * m[0] + t[0]) >> 32;
#pragma unroll
        for (int j = 1; j < N; j++) carry += (uint64_t)q * m[j] + t[j], t[j - 1] = carry, carry >>= 32;
        carry += t[N], t[N - 1] = carry, t[N] = t[N + 1] + (uint32_t)(carry >> 32);
    }
    uint32_t d[N], borrow = 0;
    for (int j = 0; j < N; j++) {
        uint64_t x = (uint64_t)t[j] - m[j] - borrow;
        d[j] = x, borrow = x >> 63;
    }
    bool less = borrow > t[N];
    for (int j = 0; j < N; j++) r[j] = less ? t[j] : d[j];
}
KERNEL montgomery_power(const uint32_t *bases, const uint32_t *modulus, const uint32_t *one, uint32_t *o, uint32_t inverse,
                        uint32_t power) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t m[8], a[8], r[8];
    for (int k = 0; k < 8; k++) m[k] = modulus[k], a[k] = bases[t * 8 + k], r[k] = one[k];
    for (; power; power >>= 1) {
        if (power & 1) product<8>(r, r, a, m, inverse);
        product<8>(a, a, a, m, inverse);
    }
    for (int k = 0; k < 8; k++) o[t * 8 + k] = r[k];
}

// Days since 1970 as year, month, day, day of the week and week of the year as ISO 8601 has it.
struct Date { int year; uint8_t month, day, weekday, week; };
__device__ int days_of(int year, int month, int day) {
    year -= month <= 2;
    int era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
    int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}
KERNEL civil_dates(const int *days, Date *dates, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int z = days[i] + 719468, era = (z >= 0 ? z : z - 146096) / 146097;
        unsigned doe = z - era * 146097, yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
        unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
        Date d;
        d.day = doy - (153 * mp + 2) / 5 + 1, d.month = mp < 10 ? mp + 3 : mp - 9;
        d.year = yoe + era * 400 + (d.month <= 2);
        int weekday = (days[i] % 7 + 10) % 7;  // 0 is Monday
        d.weekday = weekday + 1;
        int thursday = days[i] - weekday + 3, year = d.year;
        if (thursday < days_of(year, 1, 1)) year--;
        else if (thursday >= days_of(year + 1, 1, 1)) year++;
        d.week = (thursday - days_of(year, 1, 1)) / 7 + 1;
        dates[i] = d;
    }
}

// A line a thread: decimal numbers between commas, with quotes, signs, points and exponents, by a machine of states.
KERNEL csv_decimals(const char *text, const int *lines, double *sums, int *counts, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    enum { START, QUOTED, WHOLE, FRACTION, SIGN, EXPONENT, BAD } state = START;
    long long digits = 0;
    int places = 0, exponent = 0, fields = 0, errors = 0;
    bool minus = false, small = false, quote = false, any = false;
    double sum = 0;
    for (int i = lines[t];; i++) {
        char c = i < lines[t + 1] ? text[i] : '\n';
        if ((c == ',' && !quote) || c == '\n') {
            if (state == BAD || !any || quote) errors++;
            else {
                double value = digits;
                int shift = (small ? -exponent : exponent) - places;
                for (; shift > 0; shift--) value *= 10;
                for (; shift < 0; shift++) value /= 10;
                sum += minus ? -value : value;
                fields++;
            }
            state = START, digits = places = exponent = 0, minus = small = quote = any = false;
            if (c == '\n') break;
            continue;
        }
        if (state == BAD) quote &= c != '"';
        else switch (state) {
        case START:
            if (c == ' ') break;
            if (c == '"' && !quote) { quote = true; break; }
            if (c == '-' || c == '+') { minus = c == '-', state = WHOLE; break; }
            state = WHOLE;  // falls through
        case WHOLE:
        case FRACTION:
            if (c >= '0' && c <= '9') digits = digits * 10 + (c - '0'), places += state == FRACTION, any = true;
            else if (c == '.' && state == WHOLE) state = FRACTION;
            else if ((c == 'e' || c == 'E') && any) state = SIGN;
            else if (c == '"' && quote) quote = false, state = QUOTED;
            else state = BAD;
            break;
        case SIGN:
            state = EXPONENT;
            if (c == '-' || c == '+') { small = c == '-'; break; }  // falls through
        case EXPONENT:
            if (c >= '0' && c <= '9') exponent = min(exponent * 10 + (c - '0'), 300);
            else if (c == '"' && quote) quote = false, state = QUOTED;
            else state = BAD;
            break;
        case QUOTED:
            if (c != ' ') state = BAD;
            break;
        }
    }
    sums[t] = sum;
    counts[t] = fields << 8 | errors;
}
