/* Tensors of the tensor memory accelerator: descriptions, and the walk over tiles and im2col columns. */
#include "sim/tensor.h"

#include <stddef.h>

#include "sim/lanes.h"
#include "sim/memcheck.h"

enum { ALIGNMENT = 64, SHARED_ALIGNMENT = 128 };
enum { SWIZZLE_128 = 3, SWIZZLE_128_UNITS_32, SWIZZLES };

#define MAGIC 0x50414d544349524full /* "ORICTMAP" */
#define MOST_BYTES (1u << 18)   /* more than the shared memory of a block */

_Static_assert(sizeof(sim_tensor_bytes) == SIM_TENSOR_BYTES, "as runtime/oric/sim/tensor.py packs it");

static const sim_element elements[ORIC_TENSOR_TYPES] = {
    {1, 1, SIM_UNSIGNED}, {2, 1, SIM_UNSIGNED}, {4, 1, SIM_UNSIGNED}, {4, 1, SIM_SIGNED}, {8, 1, SIM_UNSIGNED},
    {8, 1, SIM_SIGNED},   {2, 1, SIM_F16},      {4, 1, SIM_F32},      {0, 0, 0},          {8, 1, SIM_F64},      {2, 1, SIM_BF16},
};

static const uint8_t zeros[SIM_PIECE];
/* NaN of 16 bits are those that HFMA2.OOB looks for; what the hardware has for wider types is not public: the canonical one. */
static const uint16_t nan16[8] = {0x7ff7, 0x7ff7, 0x7ff7, 0x7ff7, 0x7ff7, 0x7ff7, 0x7ff7, 0x7ff7};
static const uint32_t nan32[4] = {0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff};
static const uint64_t nan64[2] = {0x7fffffffffffffff, 0x7fffffffffffffff};

sim_element sim_tensor_element(const sim_box *box) { return elements[box->tensor.type]; }

static int bad(sim_warp *w, uint32_t lane, const char *what)
{
    sim_fault(w, ORIC_FAULT_ILLEGAL, lane, what);
    return 0;
}

/* Bytes of a swizzle. */
static uint32_t span_of(unsigned swizzle) { return swizzle > SWIZZLE_128 ? 128 : 16u << swizzle; }

/* Everything that the walk relies on: the bytes may be anything. */
static int possible(const sim_tensor *t)
{
    if (t->rank < 1 || t->rank > ORIC_TENSOR_RANKS || t->mode > ORIC_MAP_IM2COL)
        return 0;
    uint32_t bytes = elements[t->type].bytes, most = t->mode == ORIC_MAP_IM2COL ? ORIC_MAX_PIXELS : ORIC_MAX_BOX;
    if (t->fill && elements[t->type].kind < SIM_F32)
        return 0;
    for (int i = 0; i < ORIC_TENSOR_RANKS; i++)
        if (t->box[i] < 1 || t->box[i] > (i == 1 ? most : ORIC_MAX_BOX) || t->steps[i] < 1 || t->steps[i] > ORIC_MAX_STEP)
            return 0;
    return t->box[0] * bytes % SIM_PIECE == 0 && t->address % bytes == 0 && (t->mode == ORIC_MAP_TILED || t->rank >= 3);
}

/* What a map can say and the simulator does not know; NULL: nothing. */
static const char *unknown(const sim_tensor_bytes *raw, const sim_tensor *t)
{
    if (t->type >= ORIC_TENSOR_TYPES || !elements[t->type].bytes || raw->flags >> 16 & 1)
        return "tensor map of elements of this type";
    if (raw->flags >> 11 & 3)
        return "interleaved tensor map";
    if (t->swizzle >= SWIZZLES || (t->swizzle && t->box[0] * elements[t->type].bytes != span_of(t->swizzle)))
        return "swizzle of a tensor map";
    return NULL;
}

static void unpack(const sim_tensor_bytes *raw, sim_tensor *t)
{
    uint32_t f = raw->flags, swizzle = f >> 13 & 3, units = f >> 19 & 7;
    *t = (sim_tensor){.address = raw->address, .rank = (uint8_t)((f >> 4 & 7) + 1), .type = f >> 7 & 15, .fill = f >> 15 & 1, .mode = raw->mode};
    t->swizzle = (uint8_t)swizzle;
    if (units || f >> 22 & 1)
        t->swizzle = swizzle == SWIZZLE_128 && units == 1 && !(f >> 22 & 1) ? SWIZZLE_128_UNITS_32 : SWIZZLES;
    for (int i = 0; i < ORIC_TENSOR_RANKS; i++) {
        t->last[i] = raw->last[i];
        t->box[i] = (uint16_t)((i ? raw->box >> (8 * (i - 1)) & 255 : raw->steps >> 24) + 1);
        t->steps[i] = (uint8_t)((raw->steps >> 3 * i & 7) + 1);
        if (i < ORIC_TENSOR_RANKS - 1)
            t->strides[i] = (uint64_t)raw->strides[i] << 4 | (uint64_t)(raw->strides_high >> 4 * i & 15) << 36;
    }
    if (t->mode != ORIC_MAP_IM2COL)
        return;
    memcpy(t->box, raw->columns, sizeof raw->columns);
    memcpy(t->lower, raw->lower, sizeof t->lower);
    memcpy(t->upper, raw->upper, sizeof t->upper);
}

/* A map of the host's, or one that device code has made of zeros. */
static int is_map(const sim_tensor_bytes *raw)
{
    static const sim_tensor_bytes none;
    const uint8_t *ours = (const uint8_t *)&raw->unknown;
    if (raw->magic == MAGIC && raw->version == ORIC_MAP_VERSION)
        return 1;
    return memcmp(raw, &none, sizeof none) != 0 && memcmp(ours, &none, sizeof none - offsetof(sim_tensor_bytes, unknown)) == 0;
}

int sim_tensor_read(sim_warp *w, uint32_t lane, uint64_t address, unsigned rank, int mode, sim_box *box)
{
    sim_tensor_bytes raw;
    uint8_t *to = (uint8_t *)&raw;
    for (uint32_t i = 0; i < SIM_TENSOR_BYTES; i += SIM_PIECE) {
        const uint8_t *from = place(w, lane, GENERIC, address + i, SIM_PIECE, 0);
        if (!from)
            return 0;
        memcpy(to + i, from, SIM_PIECE);
    }
    sim_tensor *t = &box->tensor;
    if (address % ALIGNMENT || !is_map(&raw))
        return bad(w, lane, "no tensor map of oric.sim at this address");
    unpack(&raw, t);
    const char *what = unknown(&raw, t);
    if (what) {
        sim_fault(w, ORIC_FAULT_NO_MEANING, lane, what);
        return 0;
    }
    if (!possible(t))
        return bad(w, lane, "damaged tensor map");
    if (t->rank != rank || t->mode != mode)
        return bad(w, lane, "tensor map of another rank or mode than the instruction's");
    box->element = elements[t->type].bytes;
    return 1;
}

/* Swizzles move 16-byte (the last one: 32-byte) units within a span of 32, 64 or 128 bytes, by the address of the span's line. */
static uint64_t swizzled(const sim_tensor *t, uint64_t address)
{
    static const uint8_t masks[SWIZZLES] = {0, 1, 3, 7, 3}, units[SWIZZLES] = {4, 4, 4, 4, 5};
    return address ^ (address >> 7 & masks[t->swizzle]) << units[t->swizzle];
}

static const uint8_t *fill_of(const sim_box *b)
{
    if (!b->tensor.fill)
        return zeros;
    return b->element == 2 ? (const uint8_t *)nan16 : b->element == 4 ? (const uint8_t *)nan32 : (const uint8_t *)nan64;
}

/* Elements [low, high) of the 16 bytes at `place`, whose first element is that of coordinate `first` in a row at `global`. */
static void add_piece(sim_warp *w, uint32_t lane, const sim_box *b, sim_transfer *t, uint8_t *place, uint64_t global, int64_t first,
                      uint32_t low, uint32_t high)
{
    uint32_t bytes = (high - low) * b->element, skip = low * b->element;
    uint8_t *found = NULL;
    if (high > low) {
        found = sim_address_span(w, lane, GLOBAL, global + (uint64_t)(first + low) * b->element, b->element, bytes, b->stores);
        if (!found)
            return;
    }
    if (b->stores) {
        if (found)
            sim_transfer_add(w, t, found, place + skip, bytes);
        return;
    }
    if (skip)
        sim_transfer_add(w, t, place, fill_of(b), skip);
    if (found)
        sim_transfer_add(w, t, place + skip, found, bytes);
    if (skip + bytes < SIM_PIECE)
        sim_transfer_add(w, t, place + skip + bytes, fill_of(b), SIM_PIECE - skip - bytes);
}

/* Row `number` of the box in shared memory: elements at `at` and behind it along dimension 0. */
static void add_row(sim_warp *w, uint32_t lane, const sim_box *b, sim_transfer *t, const int64_t *at, uint32_t number)
{
    const sim_tensor *d = &b->tensor;
    uint64_t global = d->address;
    uint32_t row_bytes = d->box[0] * b->element, each = SIM_PIECE / b->element;
    int inside = 1;
    for (int i = 1; i < d->rank; i++) {
        inside &= at[i] >= 0 && at[i] <= d->last[i];
        global += (uint64_t)at[i] * d->strides[i - 1];
    }
    for (uint32_t x = 0; x < row_bytes && !w->sim->fault.code; x += SIM_PIECE) {
        uint64_t shared = swizzled(d, b->shared + (uint64_t)number * row_bytes + x);
        uint8_t *place = sim_address(w, lane, CLUSTER, shared, SIM_PIECE, !b->stores);
        int64_t first = at[0] + x / b->element, left = (int64_t)d->last[0] + 1 - first;
        uint32_t low = first < 0 ? (uint32_t)(-first < each ? -first : each) : 0;
        uint32_t high = left <= 0 ? 0 : left < each ? (uint32_t)left : each;
        if (!inside || high < low)
            high = low;
        if (place)
            add_piece(w, lane, b, t, place, global, first, low, high);
    }
}

/* Elements along a dimension of a tile. */
static uint32_t extent(const sim_tensor *d, int dimension)
{
    return dimension == 0 ? d->box[0] : (uint32_t)(d->box[dimension] + d->steps[dimension] - 1) / d->steps[dimension];
}

/* Of the whole box of a tile: a map may describe one that no shared memory holds, and that to walk through takes years. */
static uint64_t tile_bytes(const sim_box *b)
{
    uint64_t bytes = b->element;
    for (int i = 0; i < b->tensor.rank && b->tensor.mode == ORIC_MAP_TILED && !b->gathers; i++)
        bytes *= extent(&b->tensor, i);
    return bytes;
}

static uint32_t walk_tile(sim_warp *w, uint32_t lane, const sim_box *b, sim_transfer *t)
{
    const sim_tensor *d = &b->tensor;
    uint32_t index[ORIC_TENSOR_RANKS] = {0}, row = 0;
    for (;;) {
        int64_t at[ORIC_TENSOR_RANKS];
        for (int i = 0; i < ORIC_TENSOR_RANKS; i++)
            at[i] = b->at[i] + (int64_t)index[i] * (i ? d->steps[i] : 0);
        add_row(w, lane, b, t, at, row++);
        int i = 1;
        while (i < d->rank && ++index[i] == extent(d, i))
            index[i++] = 0;
        if (i >= d->rank || w->sim->fault.code)
            return row;
    }
}

/* Pixel after pixel through the box of W, H and D, then the next image. */
static uint32_t walk_pixels(sim_warp *w, uint32_t lane, const sim_box *b, sim_transfer *t)
{
    const sim_tensor *d = &b->tensor;
    int64_t pixel[ORIC_TENSOR_RANKS] = {b->at[0], b->at[1], b->at[2], b->at[3], b->at[4]};
    for (uint32_t row = 0; row < d->box[1] && !w->sim->fault.code; row++) {
        int64_t at[ORIC_TENSOR_RANKS];
        memcpy(at, pixel, sizeof at);
        for (int i = 1; i < d->rank - 1; i++)
            at[i] += b->shift[i - 1];
        add_row(w, lane, b, t, at, row);
        int i = 1;
        for (; i < d->rank - 1; i++) {
            pixel[i] += d->steps[i];
            if (pixel[i] <= (int64_t)d->last[i] + d->upper[i - 1])
                break;
            pixel[i] = d->lower[i - 1];
        }
        if (i == d->rank - 1)
            pixel[i]++;
    }
    return d->box[1];
}

static uint32_t walk_rows(sim_warp *w, uint32_t lane, const sim_box *b, sim_transfer *t)
{
    for (uint32_t row = 0; row < 4 && !w->sim->fault.code; row++) {
        const int64_t at[ORIC_TENSOR_RANKS] = {b->at[0], b->rows[row]};
        add_row(w, lane, b, t, at, row);
    }
    return 4;
}

uint64_t sim_tensor_walk(sim_warp *w, uint32_t lane, const sim_box *b, sim_transfer *t)
{
    if (b->shared % SHARED_ALIGNMENT) {
        if (w->shadow)
            sim_memcheck_access(w, lane, NULL, ORIC_FAULT_MISALIGNED, ORIC_MEM_SHARED, b->shared, SHARED_ALIGNMENT, !b->stores);
        else
            sim_fault_access(w, ORIC_FAULT_MISALIGNED, lane, ORIC_MEM_SHARED, b->shared, SHARED_ALIGNMENT, !b->stores);
        return 0;
    }
    int tile = !b->gathers && b->tensor.mode == ORIC_MAP_TILED;
    if (tile && (int64_t)b->at[0] * b->element % SIM_PIECE) {
        bad(w, lane, "the innermost coordinate of a tile is no multiple of 16 bytes");
        return 0;
    }
    uint64_t bytes = tile_bytes(b);
    if (bytes > MOST_BYTES) {
        uint32_t size = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
        sim_fault_access(w, ORIC_FAULT_OUT_OF_BOUNDS, lane, ORIC_MEM_SHARED, b->shared, size, !b->stores);
        return 0;
    }
    uint32_t rows = b->gathers ? walk_rows(w, lane, b, t) : b->tensor.mode == ORIC_MAP_IM2COL ? walk_pixels(w, lane, b, t) : walk_tile(w, lane, b, t);
    return (uint64_t)rows * b->tensor.box[0] * b->element;
}
