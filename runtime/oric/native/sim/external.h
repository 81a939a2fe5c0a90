/* Functions that the driver provides to device code: printf, assertions, the heap. */
#ifndef ORIC_SIM_EXTERNAL_H
#define ORIC_SIM_EXTERNAL_H
#include "sim/state.h"

enum { SIM_EXTERNAL_ARGUMENTS = 10, SIM_NO_ARGUMENT = 255 };

typedef struct {
    const char *name;
    void (*call)(sim_warp *w, uint32_t mask, const uint8_t *registers); /* the first register of each argument */
    uint8_t registers[SIM_EXTERNAL_ARGUMENTS];
} sim_external;

/* Generated from spec/simulator.yaml. */
extern const sim_external sim_externals[];
extern const unsigned sim_external_count, sim_external_result, sim_external_return;

/* Runs the function at the current group's program counter and returns from it; 0: there is none. */
int sim_call_external(sim_warp *w);

/* Give text to the output of the launch. */
void sim_print(sim_warp *w, uint32_t lane, const char *text, size_t size);

/* A string of the device as the host's, to be freed; NULL after a fault. */
char *sim_device_string(sim_warp *w, uint32_t lane, uint64_t address);
const uint8_t *sim_generic_bytes(sim_warp *w, uint32_t lane, uint64_t address, uint32_t size);

void sim_call_print(sim_warp *w, uint32_t mask, const uint8_t *registers);
void sim_call_assert_failed(sim_warp *w, uint32_t mask, const uint8_t *registers);
void sim_call_allocate(sim_warp *w, uint32_t mask, const uint8_t *registers);
void sim_call_release(sim_warp *w, uint32_t mask, const uint8_t *registers);
void sim_call_copy_block(sim_warp *w, uint32_t mask, const uint8_t *registers);
void sim_call_copy_tile(sim_warp *w, uint32_t mask, const uint8_t *registers);
void sim_call_copy_pixels(sim_warp *w, uint32_t mask, const uint8_t *registers);

/* Arguments in registers: those of a lane. */
uint32_t sim_argument32(const sim_warp *w, uint32_t lane, uint8_t reg);
uint64_t sim_argument64(const sim_warp *w, uint32_t lane, uint8_t reg);
#endif
