/*
 * Textures. Filtering is that of the CUDA programming guide (Texture Fetching): the fraction of a coordinate has 8 bits. The level
 * of detail is the nearest one to what an instruction names, or to the logarithm of the larger difference in a quad of threads.
 */
#include "sim/texture.h"

#include <math.h>
#include <stdlib.h>

#include "sim/lanes.h"

#define MAX_VALUES 8
#define FACES 6

const oric_operand sim_no_operand;

typedef struct {
    sim_warp *w;
    uint32_t lane;
    const oric_sim_texture *t;
    uint64_t layer; /* bytes before the first texel of the layer */
} sampler;

int oric_sim_set_texture(oric_sim *sim, uint32_t number, const oric_sim_texture *texture)
{
    if (number >> SIM_TEXTURE_BITS || texture->channels == 0 || texture->channels > 4 || texture->bytes == 0 || texture->bytes > 4)
        return -1;
    if (texture->rank < 1 || texture->rank > 3)
        return -1;
    for (int axis = 0; axis < 3; axis++)
        if (texture->size[axis] == 0)
            return -1;
    if (number >= sim->ntextures) {
        oric_sim_texture *bigger = realloc(sim->textures, (number + 1) * sizeof *bigger);
        if (!bigger)
            return -1;
        memset(bigger + sim->ntextures, 0, (number + 1 - sim->ntextures) * sizeof *bigger);
        sim->textures = bigger;
        sim->ntextures = number + 1;
    }
    sim->textures[number] = *texture;
    sim->textures[number].levels += !texture->levels;
    return 0;
}

const oric_sim_texture *sim_find_texture(sim_warp *w, uint32_t lane, uint32_t handle)
{
    if (handle < w->sim->ntextures && w->sim->textures[handle].rank)
        return &w->sim->textures[handle];
    sim_fault(w, ORIC_FAULT_ILLEGAL, lane, "no texture or surface has this handle");
    return NULL;
}

int sim_texture_handles(sim_warp *w, uint32_t mask, sim_opd bank, sim_opd slot, sim_opd URa, sim_opd Rh, uint32_t *out)
{
    uint32_t room[SIM_LANES], first = sim_first_lane(mask);
    if (Rh->kind == ORIC_K_GPR && bank->kind == ORIC_K_NONE) {
        const uint32_t *from = sim_get32(w, mask, Rh, room, SIM_AS_BITS);
        memcpy(out, from, sizeof room);
        return 1;
    }
    uint32_t handle = 0;
    if (URa->kind == ORIC_K_UGPR && bank->kind == ORIC_K_NONE && slot->value == 0) {
        handle = URa->reg < 255 ? w->UR[URa->reg] : 0;
    } else if (bank->kind != ORIC_K_NONE && Rh->kind == ORIC_K_NONE && URa->kind == ORIC_K_NONE) {
        const uint8_t *from = sim_constant(w, first, (uint32_t)bank->value, (uint64_t)slot->value * 4, 4);
        if (!from)
            return 0;
        memcpy(&handle, from, 4);
    } else {
        sim_fault(w, ORIC_FAULT_NO_MEANING, first, "handle in two parts");
        return 0;
    }
    for (int l = 0; l < SIM_LANES; l++)
        out[l] = handle;
    return 1;
}

/* An index outside of the texture as the addressing mode has it; 0: the border. */
static int address_texel(const oric_sim_texture *t, int axis, int64_t *index)
{
    int64_t size = t->size[axis];
    if (*index >= 0 && *index < size)
        return 1;
    /* wrap and mirror are for normalised coordinates only */
    switch (t->normalised || t->address[axis] == ORIC_TEXTURE_BORDER ? t->address[axis] : ORIC_TEXTURE_CLAMP) {
    case ORIC_TEXTURE_BORDER:
        return 0;
    case ORIC_TEXTURE_WRAP:
        *index = (*index % size + size) % size;
        return 1;
    case ORIC_TEXTURE_MIRROR:
        *index = (*index % (2 * size) + 2 * size) % (2 * size);
        *index = *index < size ? *index : 2 * size - 1 - *index;
        return 1;
    default:
        *index = *index < 0 ? 0 : size - 1;
        return 1;
    }
}

static float from_half(uint32_t bits)
{
    uint32_t exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
    float size = exponent == 31 ? (fraction ? NAN : INFINITY)
                                : ldexpf((float)(exponent ? fraction | 0x400 : fraction), (int)(exponent ? exponent : 1) - 25);
    return bits & 0x8000 ? -size : size;
}

/* One component of a texel as a 32-bit value: an integer of the format, or a float. */
static uint32_t decode(const oric_sim_texture *t, const uint8_t *from)
{
    uint32_t value = 0;
    memcpy(&value, from, t->bytes);
    unsigned bits = 8 * t->bytes;
    if (t->kind == ORIC_TEXTURE_FLOAT)
        return t->bytes == 2 ? arith_bits32(from_half(value)) : value;
    int32_t number = (int32_t)(value << (32 - bits)) >> (32 - bits);
    if (!t->read_normalised)
        return t->kind == ORIC_TEXTURE_SIGNED ? (uint32_t)number : value;
    float most = t->kind == ORIC_TEXTURE_SIGNED ? (float)((1u << (bits - 1)) - 1) : (float)((1ull << bits) - 1);
    float scaled = t->kind == ORIC_TEXTURE_SIGNED ? (float)number / most : (float)value / most;
    return arith_bits32(scaled < -1 ? -1 : scaled);
}

/* The components of a texel; 0 after a fault. */
static int read_texel(const sampler *s, const int64_t *wanted, uint32_t *out)
{
    const oric_sim_texture *t = s->t;
    int64_t index[3] = {wanted[0], wanted[1], wanted[2]};
    int floats = t->kind == ORIC_TEXTURE_FLOAT || t->read_normalised, inside = 1;
    for (int axis = 0; axis < (int)t->rank; axis++)
        inside &= address_texel(t, axis, &index[axis]);
    for (uint32_t c = 0; c < 4; c++) /* what the format has not: 0, 0, 0, 1 */
        out[c] = c < 3 ? 0 : floats ? arith_bits32(1.0f) : 1;
    if (!inside) {
        memcpy(out, t->border, sizeof t->border);
        return 1;
    }
    for (int axis = (int)t->rank; axis < 3; axis++)
        index[axis] = 0;
    uint64_t number = ((uint64_t)index[2] * t->size[1] + (uint64_t)index[1]) * t->size[0] + (uint64_t)index[0];
    uint64_t at = t->data + s->layer + number * t->channels * t->bytes;
    for (uint32_t c = 0; c < t->channels; c++) {
        const uint8_t *from = sim_address(s->w, s->lane, GLOBAL, at + c * t->bytes, t->bytes, 0);
        if (!from)
            return 0;
        out[c] = decode(t, from);
    }
    return 1;
}

/* Coordinates in texels, folded so that they fit an index. */
static double texels(const oric_sim_texture *t, int axis, float x)
{
    double at = (double)x * (t->normalised ? t->size[axis] : 1);
    return at != at ? 0 : at < -1e9 ? -1e9 : at > 1e9 ? 1e9 : at;
}

static int sample_nearest(const sampler *s, const double *at, const int32_t *offset, uint32_t *out)
{
    int64_t index[3];
    for (int axis = 0; axis < 3; axis++)
        index[axis] = (int64_t)floor(at[axis]) + offset[axis];
    return read_texel(s, index, out);
}

/* The lower of the two texels on each axis, and how much the upper one weighs. */
static void split(const sampler *s, const double *at, const int32_t *offset, int64_t *low, double *weight)
{
    for (int axis = 0; axis < 3; axis++) {
        double below = at[axis] - 0.5, whole = floor(below);
        low[axis] = axis < (int)s->t->rank ? (int64_t)whole + offset[axis] : 0;
        weight[axis] = axis < (int)s->t->rank ? floor((below - whole) * 256 + 0.5) / 256 : 0;
    }
}

static int sample_linear(const sampler *s, const double *at, const int32_t *offset, uint32_t *out)
{
    int64_t low[3];
    double weight[3], sum[4] = {0, 0, 0, 0};
    split(s, at, offset, low, weight);
    for (unsigned corner = 0; corner < 1u << s->t->rank; corner++) {
        int64_t index[3];
        double part = 1;
        uint32_t texel[4];
        for (unsigned axis = 0; axis < 3; axis++) {
            index[axis] = low[axis] + (corner >> axis & 1);
            part *= corner >> axis & 1 ? weight[axis] : 1 - weight[axis];
        }
        if (part == 0)
            continue;
        if (!read_texel(s, index, texel))
            return 0;
        for (int c = 0; c < 4; c++)
            sum[c] += part * (double)arith_f32(texel[c]);
    }
    for (int c = 0; c < 4; c++)
        out[c] = arith_bits32((float)sum[c]);
    return 1;
}

/* One component of the four texels that linear filtering would take, counterclockwise from the lower left one. */
static int gather(const sampler *s, const double *at, const int32_t *offset, unsigned component, uint32_t *out)
{
    static const int8_t order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    int64_t low[3];
    double weight[3];
    split(s, at, offset, low, weight);
    for (int i = 0; i < 4; i++) {
        int64_t index[3] = {low[0] + order[i][0], low[1] + order[i][1], 0};
        uint32_t texel[4];
        if (!read_texel(s, index, texel))
            return 0;
        out[i] = texel[component == V_A ? 3 : component == V_B ? 2 : component == V_G ? 1 : 0];
    }
    return 1;
}

/* A direction becomes a face and coordinates on it (table of the CUDA programming guide). */
static unsigned cube_face(const oric_sim_texture *t, const float *d, double *at)
{
    float x = fabsf(d[0]), y = fabsf(d[1]), z = fabsf(d[2]), s, r, major;
    unsigned face;
    if (x >= y && x >= z)
        face = d[0] < 0, major = x, s = face ? d[2] : -d[2], r = -d[1];
    else if (y >= z)
        face = 2 + (d[1] < 0), major = y, s = d[0], r = face == 2 ? d[2] : -d[2];
    else
        face = 4 + (d[2] < 0), major = z, s = face == 4 ? d[0] : -d[0], r = -d[1];
    at[0] = ((double)s / (double)major + 1) / 2 * t->size[0];
    at[1] = ((double)r / (double)major + 1) / 2 * t->size[1];
    at[2] = 0;
    for (int axis = 0; axis < 2; axis++)
        at[axis] = at[axis] != at[axis] ? 0 : at[axis];
    return face;
}

static int is_array(unsigned dim) { return dim == V_ARRAY_1D || dim == V_ARRAY_2D || dim == V_ARRAY_CUBE; }
static int is_cube(unsigned dim) { return dim == V_CUBE || dim == V_ARRAY_CUBE; }

static unsigned axes_of(unsigned dim)
{
    return dim == V_1D || dim == V_ARRAY_1D ? 1 : dim == V_2D || dim == V_ARRAY_2D ? 2 : 3;
}

/* Bytes before the layer (and the face); 0 when the texture has no such dimensions. */
static int choose_layer(sampler *s, unsigned dim, uint32_t layer, unsigned face)
{
    const oric_sim_texture *t = s->t;
    unsigned axes = is_cube(dim) ? 2 : axes_of(dim);
    if (t->layered != (unsigned)is_array(dim) || t->cube != (unsigned)is_cube(dim) || (t->rank != axes && !(t->rank == 1 && axes == 2))) {
        sim_fault(s->w, ORIC_FAULT_ILLEGAL, s->lane, "texture of other dimensions than the instruction's");
        return 0;
    }
    uint64_t bytes = (uint64_t)t->size[0] * t->size[1] * t->size[2] * t->channels * t->bytes;
    layer = layer < t->layers ? layer : t->layers - 1;
    s->layer = bytes * (t->cube ? (uint64_t)layer * FACES + face : layer);
    return 1;
}

/*
 * The values of a lane: array index and coordinates, then level and offset. Halves: the first half of them is in Ra. With a
 * handle in a register, that is behind the coordinates (of derivatives in front of all) and counts for the halves. What has the
 * handle then is `held`.
 */
static unsigned value_rows(sim_warp *w, uint32_t mask, sim_opd Ra, sim_opd Rb, unsigned flags, unsigned coordinates, unsigned more,
                           uint32_t **out, oric_operand *held)
{
    unsigned handle = flags & TEXTURE_HANDLE && !(flags & TEXTURE_DERIVATIVES) ? 1 : 0, total = coordinates + handle + more;
    unsigned first = flags & TEXTURE_HALVES ? (total + 1) / 2 : coordinates, count = 0;
    for (unsigned i = 0; i < total && count < MAX_VALUES; i++) {
        sim_opd from = i < first ? Ra : Rb;
        unsigned at = i < first ? i : i - first;
        if (handle && i == coordinates) {
            *held = *from;
            held->reg = (uint16_t)(held->reg + at);
        } else {
            out[count++] = sim_row(w, mask, from, at);
        }
    }
    return w->sim->fault.code == 0;
}

static uint32_t value(uint32_t *const *rows, unsigned i, uint32_t lane) { return rows[i] ? rows[i][lane] : 0; }

static void put_components(sim_warp *w, uint32_t mask, sim_opd Rd, sim_opd Rv, unsigned wanted, uint32_t (*texels)[4])
{
    unsigned count = 0;
    for (unsigned c = 0; c < 4; c++) {
        if (!(wanted >> c & 1))
            continue;
        uint32_t *to = sim_row(w, mask, count < 2 ? Rd : Rv, count & 1);
        count++;
        for (uint32_t l = 0; to && l < SIM_LANES; l++)
            if (mask >> l & 1)
                to[l] = texels[l][c];
    }
}

static int sample(sampler *s, unsigned flags, unsigned dim, uint32_t *const *rows, int offset_at, unsigned component, uint32_t *out)
{
    const oric_sim_texture *t = s->t;
    unsigned at_row = is_array(dim) ? 1 : 0, axes = axes_of(dim), face = 0;
    double at[3] = {0, 0, 0};
    int32_t offset[3] = {0, 0, 0};
    float direction[3];
    for (unsigned axis = 0; axis < axes; axis++) {
        uint32_t x = value(rows, at_row + axis, s->lane);
        direction[axis % 3] = arith_f32(x);
        at[axis] = flags & TEXTURE_INTEGERS ? (double)(int32_t)x : texels(t, (int)axis, arith_f32(x));
        if (offset_at >= 0)
            offset[axis] = (int32_t)(value(rows, (unsigned)offset_at, s->lane) << (28 - 4 * axis)) >> 28;
    }
    if (is_cube(dim))
        face = cube_face(t, direction, at);
    if (!choose_layer(s, dim, is_array(dim) ? value(rows, 0, s->lane) & 0xffff : 0, face))
        return 0;
    if (flags & TEXTURE_GATHER)
        return gather(s, at, offset, component, out);
    if (flags & TEXTURE_INTEGERS || !t->linear)
        return sample_nearest(s, at, offset, out);
    return sample_linear(s, at, offset, out);
}

/* A texture as one of its levels is. */
static oric_sim_texture at_level(const oric_sim_texture *t, double level)
{
    oric_sim_texture made = *t;
    double last = t->levels - 1, wanted = floor(level + 0.5);
    for (double n = 0; n < (wanted < last ? wanted : last); n++) {
        uint64_t texels = (uint64_t)made.size[0] * made.size[1] * made.size[2] * made.layers * (made.cube ? FACES : 1);
        made.data += texels * made.channels * made.bytes;
        for (int axis = 0; axis < 3; axis++)
            made.size[axis] = made.size[axis] > 1 ? made.size[axis] / 2 : 1;
    }
    return made;
}

/* The level of detail of the quad of a lane: how far its coordinates are from those of the threads beside and below. Largest
 * components of directions are 1, so that their differences are those on the faces. */
static double level_of_quad(const oric_sim_texture *t, unsigned dim, uint32_t mask, uint32_t *const *rows, uint32_t lane)
{
    uint32_t quad = lane & ~3u, at_row = (uint32_t)is_array(dim);
    double squares[2] = {0, 0};
    if ((mask >> quad & 0xf) != 0xf)
        return 0;
    for (unsigned axis = 0; axis < axes_of(dim); axis++)
        for (unsigned way = 0; way < 2; way++) {
            double from = arith_f32(value(rows, at_row + axis, quad)), to = arith_f32(value(rows, at_row + axis, quad + 1 + way));
            double texels = is_cube(dim) ? t->size[0] / 2.0 : t->normalised ? t->size[axis] : 1;
            squares[way] += (to - from) * (to - from) * texels * texels;
        }
    double larger = squares[0] > squares[1] ? squares[0] : squares[1];
    return larger > 0 ? log2(larger) / 2 : 0;
}

SIM_OP(texture, unsigned flags, sim_opd Rd, sim_opd Rv, sim_opd Ra, sim_opd Rb, sim_opd bank, sim_opd slot, sim_opd URa, unsigned dim,
       unsigned wanted, unsigned lod, unsigned aoffi, unsigned component)
{
    uint32_t handles[SIM_LANES], texels_of[SIM_LANES][4], *rows[MAX_VALUES];
    oric_operand held = *Ra, after = *Ra;
    unsigned coordinates = axes_of(dim) + (unsigned)is_array(dim);
    unsigned levels = lod == V_LL || lod == V_LB ? 1 : 0, offsets = aoffi == V_AOFFI ? 1 : 0;
    if (!(flags & TEXTURE_HANDLE))
        held = sim_no_operand;
    if (flags & TEXTURE_HANDLE && flags & TEXTURE_DERIVATIVES)
        after.reg++; /* the handle is in front of the coordinates */
    if (!value_rows(w, mask, &after, Rb, flags, coordinates, levels + offsets, rows, &held) ||
        !sim_texture_handles(w, mask, bank, slot, URa, &held, handles))
        return;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        const oric_sim_texture *t = sim_find_texture(w, l, handles[l]);
        if (!t)
            return;
        double level = lod == V_LL ? (double)arith_f32(value(rows, coordinates, l)) : 0;
        if (flags & TEXTURE_INTEGERS)
            level = lod == V_LL ? (double)(int32_t)value(rows, coordinates, l) : 0;
        if (lod == V_AUTO && flags & TEXTURE_OF_QUADS)
            level = level_of_quad(t, dim, mask, rows, l);
        oric_sim_texture chosen = at_level(t, level);
        sampler s = {.w = w, .lane = l, .t = &chosen};
        int place = offsets ? (int)(coordinates + levels) : -1;
        if (!sample(&s, flags, dim, rows, place, component, texels_of[l]))
            return;
    }
    put_components(w, mask, Rd, Rv, wanted, texels_of);
}

SIM_OP(query_texture, unsigned flags, sim_opd Rd, sim_opd Rv, sim_opd Ra, sim_opd bank, sim_opd slot, sim_opd URa, unsigned wanted)
{
    uint32_t handles[SIM_LANES], found[SIM_LANES][4];
    if (!sim_texture_handles(w, mask, bank, slot, URa, flags & TEXTURE_HANDLE ? Ra : &sim_no_operand, handles))
        return;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        const oric_sim_texture *t = mask >> l & 1 ? sim_find_texture(w, l, handles[l]) : NULL;
        if (w->sim->fault.code)
            return;
        for (int axis = 0; t && axis < 3; axis++)
            found[l][axis] = t->size[axis];
        if (t && t->layered)
            found[l][2] = t->layers;
        if (t)
            found[l][3] = t->levels;
    }
    put_components(w, mask, Rd, Rv, wanted, found);
}
