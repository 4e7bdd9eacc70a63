// The C shim over libsodium: pointers and lengths in, a status out. It holds no policy and keeps no state.
//
// Contract of every function below unless it says otherwise:
//   - csodium_init() has returned 0 or 1 before any other call.
//   - lengths are in bytes; a pointer may be NULL only where its length is 0.
//   - output buffers have the stated size and do not overlap the inputs.
//   - the result is 0 for success and -1 for failure.

#ifndef CSODIUM_H
#define CSODIUM_H

#include <stddef.h>
#include <stdint.h>

// 0 on the first call, 1 when already initialised, -1 when libsodium cannot run here. Safe from several threads.
int csodium_init(void);
const char *csodium_version(void);

// Guarded memory: between guard pages, locked where the system allows it, kept out of core files, filled with 0xdb.
// NULL when there is no memory. csodium_secret_free() wipes and checks the canary.
void *csodium_secret_alloc(size_t length);
void csodium_secret_free(void *memory);
// From here on a write to the memory ends the process.
int csodium_secret_make_readonly(void *memory);
int csodium_secret_make_writable(void *memory);
int csodium_secret_make_inaccessible(void *memory);

void csodium_wipe(void *memory, size_t length);
// 0 when equal, -1 when not, in time that depends on the length only.
int csodium_compare(const void *a, const void *b, size_t length);
void csodium_random(void *out, size_t length);

// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03): key 32, nonce 24; out has plaintext length + 16.
// In place (out == plaintext) is allowed.
int csodium_xchacha20poly1305_seal(uint8_t *out, const uint8_t *plaintext, size_t plaintext_length,
                                   const uint8_t *associated, size_t associated_length,
                                   const uint8_t *nonce, const uint8_t *key);
// out has sealed length - 16. The tag is checked before anything is decrypted; on -1 out holds no plaintext.
int csodium_xchacha20poly1305_open(uint8_t *out, const uint8_t *sealed, size_t sealed_length,
                                   const uint8_t *associated, size_t associated_length,
                                   const uint8_t *nonce, const uint8_t *key);

// ChaCha20-Poly1305 (RFC 8439): key 32, nonce 12; out has plaintext length + 16 / sealed length - 16. As above otherwise.
int csodium_chacha20poly1305_seal(uint8_t *out, const uint8_t *plaintext, size_t plaintext_length,
                                  const uint8_t *associated, size_t associated_length,
                                  const uint8_t *nonce, const uint8_t *key);
int csodium_chacha20poly1305_open(uint8_t *out, const uint8_t *sealed, size_t sealed_length,
                                  const uint8_t *associated, size_t associated_length,
                                  const uint8_t *nonce, const uint8_t *key);

// 1 where the processor has the instructions that libsodium needs for AES-256-GCM (AES-NI and CLMUL, or ARM's), else 0.
int csodium_aes256gcm_available(void);
// AES-256-GCM (NIST SP 800-38D): key 32, nonce 12; out has sealed length - 16. Only where it is available. The tag is checked
// before anything is decrypted; on -1 out holds no plaintext. There is no seal: nothing new is sealed with it.
int csodium_aes256gcm_open(uint8_t *out, const uint8_t *sealed, size_t sealed_length, const uint8_t *associated,
                           size_t associated_length, const uint8_t *nonce, const uint8_t *key);

// BLAKE2b (RFC 7693): out 16...64, key 0...64, personal 16 or NULL for none.
int csodium_blake2b(uint8_t *out, size_t out_length, const uint8_t *input, size_t input_length,
                    const uint8_t *key, size_t key_length, const uint8_t *personal);

// Argon2id version 1.3 (RFC 9106) with one lane: salt 16. -1 when the parameters are out of libsodium's range or memory is short.
int csodium_argon2id(uint8_t *out, size_t out_length, const void *passphrase, size_t passphrase_length,
                     const uint8_t *salt, uint64_t passes, size_t memory_bytes);

// Ed25519 (RFC 8032): seed 32, public 32, secret 64 (seed, then public), signature 64.
int csodium_ed25519_keypair(uint8_t *public_key, uint8_t *secret_key, const uint8_t *seed);
int csodium_ed25519_sign(uint8_t *signature, const uint8_t *message, size_t message_length, const uint8_t *secret_key);
int csodium_ed25519_verify(const uint8_t *signature, const uint8_t *message, size_t message_length,
                           const uint8_t *public_key);
// 1 for the canonical encoding of a point of the prime-order group that is not its identity, else 0.
int csodium_ed25519_is_valid(const uint8_t *public_key);

// X25519 (RFC 7748): all 32. -1 when the peer's point is of low order (the shared secret would be all zero).
int csodium_x25519_public(uint8_t *public_key, const uint8_t *secret_key);
int csodium_x25519_shared(uint8_t *shared, const uint8_t *secret_key, const uint8_t *peer_public_key);

// Hexadecimal without a table look-up, for secrets: out has 2 * length bytes (no terminator) / length / 2 bytes.
void csodium_hex_encode(uint8_t *out, const uint8_t *input, size_t length);
int csodium_hex_decode(uint8_t *out, size_t out_length, const uint8_t *hex, size_t hex_length);

// Base64 without padding (RFC 4648, sections 4 and 5) without a table look-up, for secrets. -1 for any other text and length.
int csodium_base64_decode(uint8_t *out, size_t out_length, const uint8_t *text, size_t text_length, int is_url_safe);

#endif
