#include "csodium.h"

#include <sodium.h>

int csodium_init(void) { return sodium_init(); }
const char *csodium_version(void) { return sodium_version_string(); }

void *csodium_secret_alloc(size_t length) { return sodium_malloc(length); }
void csodium_secret_free(void *memory) { sodium_free(memory); }
int csodium_secret_make_readonly(void *memory) { return sodium_mprotect_readonly(memory); }
int csodium_secret_make_writable(void *memory) { return sodium_mprotect_readwrite(memory); }
int csodium_secret_make_inaccessible(void *memory) { return sodium_mprotect_noaccess(memory); }

void csodium_wipe(void *memory, size_t length) { sodium_memzero(memory, length); }
int csodium_compare(const void *a, const void *b, size_t length) { return sodium_memcmp(a, b, length); }
void csodium_random(void *out, size_t length) { randombytes_buf(out, length); }

int csodium_xchacha20poly1305_seal(uint8_t *out, const uint8_t *plaintext, size_t plaintext_length,
                                   const uint8_t *associated, size_t associated_length,
                                   const uint8_t *nonce, const uint8_t *key) {
    return crypto_aead_xchacha20poly1305_ietf_encrypt(out, NULL, plaintext, plaintext_length, associated,
                                                      associated_length, NULL, nonce, key);
}

int csodium_xchacha20poly1305_open(uint8_t *out, const uint8_t *sealed, size_t sealed_length,
                                   const uint8_t *associated, size_t associated_length,
                                   const uint8_t *nonce, const uint8_t *key) {
    return crypto_aead_xchacha20poly1305_ietf_decrypt(out, NULL, NULL, sealed, sealed_length, associated,
                                                      associated_length, nonce, key);
}

int csodium_chacha20poly1305_seal(uint8_t *out, const uint8_t *plaintext, size_t plaintext_length,
                                  const uint8_t *associated, size_t associated_length,
                                  const uint8_t *nonce, const uint8_t *key) {
    return crypto_aead_chacha20poly1305_ietf_encrypt(out, NULL, plaintext, plaintext_length, associated,
                                                     associated_length, NULL, nonce, key);
}

int csodium_chacha20poly1305_open(uint8_t *out, const uint8_t *sealed, size_t sealed_length,
                                  const uint8_t *associated, size_t associated_length,
                                  const uint8_t *nonce, const uint8_t *key) {
    return crypto_aead_chacha20poly1305_ietf_decrypt(out, NULL, NULL, sealed, sealed_length, associated,
                                                     associated_length, nonce, key);
}

int csodium_aes256gcm_available(void) { return crypto_aead_aes256gcm_is_available() == 1; }

int csodium_aes256gcm_open(uint8_t *out, const uint8_t *sealed, size_t sealed_length, const uint8_t *associated,
                           size_t associated_length, const uint8_t *nonce, const uint8_t *key) {
    return crypto_aead_aes256gcm_decrypt(out, NULL, NULL, sealed, sealed_length, associated, associated_length, nonce,
                                         key);
}

int csodium_blake2b(uint8_t *out, size_t out_length, const uint8_t *input, size_t input_length,
                    const uint8_t *key, size_t key_length, const uint8_t *personal) {
    return crypto_generichash_blake2b_salt_personal(out, out_length, input, input_length, key, key_length, NULL,
                                                    personal);
}

int csodium_argon2id(uint8_t *out, size_t out_length, const void *passphrase, size_t passphrase_length,
                     const uint8_t *salt, uint64_t passes, size_t memory_bytes) {
    return crypto_pwhash(out, out_length, passphrase, passphrase_length, salt, passes, memory_bytes,
                         crypto_pwhash_ALG_ARGON2ID13);
}

int csodium_ed25519_keypair(uint8_t *public_key, uint8_t *secret_key, const uint8_t *seed) {
    return crypto_sign_ed25519_seed_keypair(public_key, secret_key, seed);
}

int csodium_ed25519_sign(uint8_t *signature, const uint8_t *message, size_t message_length,
                         const uint8_t *secret_key) {
    return crypto_sign_ed25519_detached(signature, NULL, message, message_length, secret_key);
}

int csodium_ed25519_verify(const uint8_t *signature, const uint8_t *message, size_t message_length,
                           const uint8_t *public_key) {
    return crypto_sign_ed25519_verify_detached(signature, message, message_length, public_key);
}

int csodium_ed25519_is_valid(const uint8_t *public_key) {
    return crypto_core_ed25519_is_valid_point(public_key);
}

int csodium_x25519_public(uint8_t *public_key, const uint8_t *secret_key) {
    return crypto_scalarmult_curve25519_base(public_key, secret_key);
}

int csodium_x25519_shared(uint8_t *shared, const uint8_t *secret_key, const uint8_t *peer_public_key) {
    return crypto_scalarmult_curve25519(shared, secret_key, peer_public_key);
}

void csodium_hex_encode(uint8_t *out, const uint8_t *input, size_t length) {
    for (size_t i = 0; i < length; i++) {
        char pair[3];
        sodium_bin2hex(pair, sizeof pair, input + i, 1);
        out[2 * i] = (uint8_t)pair[0];
        out[2 * i + 1] = (uint8_t)pair[1];
        sodium_memzero(pair, sizeof pair);
    }
}

int csodium_hex_decode(uint8_t *out, size_t out_length, const uint8_t *hex, size_t hex_length) {
    size_t written = 0;
    if (hex_length != 2 * out_length) {
        return -1;
    }
    int status = sodium_hex2bin(out, out_length, (const char *)hex, hex_length, NULL, &written, NULL);
    return status == 0 && written == out_length ? 0 : -1;
}

int csodium_base64_decode(uint8_t *out, size_t out_length, const uint8_t *text, size_t text_length, int is_url_safe) {
    size_t written = 0;
    int variant = is_url_safe ? sodium_base64_VARIANT_URLSAFE_NO_PADDING : sodium_base64_VARIANT_ORIGINAL_NO_PADDING;
    int status = sodium_base642bin(out, out_length, (const char *)text, text_length, NULL, &written, NULL, variant);
    return status == 0 && written == out_length ? 0 : -1;
}
