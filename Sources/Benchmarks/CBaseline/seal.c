#define _GNU_SOURCE
#include "cbaseline.h"
#include "format.h"

#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const uint8_t PREAMBLE[7] = {'S', 'E', 'A', 'L', 1, 1, 1};
static const uint8_t CODEC_JSON = 1;

int cbaseline_start(void) { return sodium_init() < 0 ? -1 : 0; }

static uint64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void blake2b(uint8_t *out, size_t out_size, const uint8_t *input, size_t input_size, const uint8_t *key,
                    const char *personal) {
    crypto_generichash_blake2b_salt_personal(out, out_size, input, input_size, key, 32, NULL,
                                             (const uint8_t *)personal);
}

static void derive(uint8_t derived[64], const struct cbaseline_place *place, const uint8_t *blob) {
    blake2b(derived, 64, blob, COMMITMENT_OFFSET, place->key, "SealedState.sub1");
}

static void make_salt(uint8_t *blob, const struct cbaseline_place *place) {
    static _Atomic uint64_t counter;
    uint8_t input[48 + SALT_OFFSET];
    uint64_t count = atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed) + 1;
    uint64_t now = nanoseconds();
    randombytes_buf(input, 32);
    memcpy(input + 32, &count, 8);
    memcpy(input + 40, &now, 8);
    memcpy(input + 48, blob, SALT_OFFSET);
    blake2b(blob + SALT_OFFSET, 32, input, sizeof input, place->key, "SealedState.slt1");
    sodium_memzero(input, sizeof input);
}

static void write_header(uint8_t *blob, const struct cbaseline_place *place, uint64_t sequence) {
    uint64_t milliseconds = nanoseconds() / 1000000;
    memset(blob, 0, SALT_OFFSET);
    memcpy(blob, PREAMBLE, sizeof PREAMBLE);
    memcpy(blob + 8, &place->schema_version, 4);
    memcpy(blob + 12, &place->epoch, 4);
    memcpy(blob + 16, place->group_tag, 16);
    memcpy(blob + 32, place->name_tag, 16);
    memcpy(blob + 48, place->key_id, 16);
    memcpy(blob + 64, &sequence, 8);
    memcpy(blob + 72, &milliseconds, 8);
    blob[104] = CODEC_JSON;
}

static void make_nonce(uint8_t nonce[24], uint64_t chunk, int is_last) {
    memset(nonce, 0, 24);
    memcpy(nonce, &chunk, 8);
    nonce[23] = is_last ? 1 : 0;
}

uint8_t *cbaseline_seal(const struct cbaseline_place *place, uint64_t sequence, const uint8_t *plaintext,
                        size_t plaintext_size, size_t *size) {
    size_t chunks = plaintext_size == 0 ? 1 : (plaintext_size + CHUNK_SIZE - 1) / CHUNK_SIZE;
    uint8_t derived[64], nonce[24];
    *size = HEADER_SIZE + plaintext_size + chunks * TAG_SIZE;
    uint8_t *blob = malloc(*size);
    if (blob == NULL) return NULL;
    write_header(blob, place, sequence);
    make_salt(blob, place);
    derive(derived, place, blob);
    memcpy(blob + COMMITMENT_OFFSET, derived + 32, 32);
    for (size_t chunk = 0; chunk < chunks; chunk++) {
        size_t start = chunk * CHUNK_SIZE;
        size_t length = plaintext_size - start < CHUNK_SIZE ? plaintext_size - start : CHUNK_SIZE;
        make_nonce(nonce, chunk, chunk == chunks - 1);
        crypto_aead_xchacha20poly1305_ietf_encrypt(blob + HEADER_SIZE + start + chunk * TAG_SIZE, NULL,
                                                   plaintext + start, length, blob, HEADER_SIZE, NULL, nonce, derived);
    }
    sodium_memzero(derived, sizeof derived);
    return blob;
}

void cbaseline_discard(uint8_t *blob) { free(blob); }

// Checks shape, place, key id and epoch, which need no key.
static int is_of_place(const struct cbaseline_place *place, const uint8_t *blob, size_t size) {
    uint32_t epoch;
    uint64_t writer[2], codec;
    if (size < HEADER_SIZE || memcmp(blob, PREAMBLE, sizeof PREAMBLE) != 0 || blob[7] > 3) return 0;
    memcpy(&epoch, blob + 12, 4);
    memcpy(writer, blob + 88, 16);
    memcpy(&codec, blob + 104, 8);
    return epoch == place->epoch && writer[0] == 0 && writer[1] == 0 && codec <= 2 &&
           memcmp(blob + 16, place->group_tag, 16) == 0 && memcmp(blob + 32, place->name_tag, 16) == 0 &&
           memcmp(blob + 48, place->key_id, 16) == 0;
}

int verify_header(const struct cbaseline_place *place, const uint8_t *blob, size_t size, uint8_t derived[64]) {
    if (!is_of_place(place, blob, size)) return -1;
    derive(derived, place, blob);
    return sodium_memcmp(derived + 32, blob + COMMITMENT_OFFSET, 32);
}

uint8_t *cbaseline_open(const struct cbaseline_place *place, const uint8_t *blob, size_t blob_size, size_t *size) {
    uint8_t derived[64], nonce[24];
    uint8_t *plaintext = NULL;
    if (blob_size >= HEADER_SIZE + TAG_SIZE && verify_header(place, blob, blob_size, derived) == 0) {
        size_t rest = blob_size - HEADER_SIZE;
        size_t chunks = (rest + CHUNK_SIZE + TAG_SIZE - 1) / (CHUNK_SIZE + TAG_SIZE);
        *size = rest - chunks * TAG_SIZE;
        plaintext = malloc(*size);
        for (size_t chunk = 0; chunk < chunks && plaintext != NULL; chunk++) {
            size_t start = chunk * (CHUNK_SIZE + TAG_SIZE);
            size_t length = rest - start < CHUNK_SIZE + TAG_SIZE ? rest - start : CHUNK_SIZE + TAG_SIZE;
            make_nonce(nonce, chunk, chunk == chunks - 1);
            if (crypto_aead_xchacha20poly1305_ietf_decrypt(plaintext + chunk * CHUNK_SIZE, NULL, NULL,
                                                           blob + HEADER_SIZE + start, length, blob, HEADER_SIZE,
                                                           nonce, derived) != 0) {
                cbaseline_forget(plaintext, *size);
                plaintext = NULL;
            }
        }
    }
    sodium_memzero(derived, sizeof derived);
    return plaintext;
}

void cbaseline_forget(uint8_t *plaintext, size_t size) {
    if (plaintext == NULL) return;
    sodium_memzero(plaintext, size);
    free(plaintext);
}
