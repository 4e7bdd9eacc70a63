// The sizes and offsets of docs/spec/format.md.

#ifndef CBASELINE_FORMAT_H
#define CBASELINE_FORMAT_H

#include "cbaseline.h"

enum {
    SALT_OFFSET = 112,
    COMMITMENT_OFFSET = 144,
    HEADER_SIZE = 176,
    CHUNK_SIZE = 65536,
    TAG_SIZE = 16,
};

// Checks a header at the start of `size` bytes and derives its single-use key; 0 when it is the writer's.
int verify_header(const struct cbaseline_place *place, const uint8_t *blob, size_t size, uint8_t derived[64]);

#endif
