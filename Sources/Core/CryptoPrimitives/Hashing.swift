internal import CSodium

/// BLAKE2b (RFC 7693), keyed or not, with or without personalisation.
package enum BLAKE2b {
    /// Writes the hash of `input` into `output`, whose size is the hash's size: 16 to 64 bytes.
    ///
    /// - Parameters:
    ///   - input: Any number of bytes.
    ///   - key: 0 to 64 bytes; empty means an unkeyed hash.
    ///   - personalization: Separates this use from every other; `nil` only for plain RFC 7693 hashes.
    ///   - output: The buffer for the hash, which must not overlap the input.
    @inline(__always)
    package static func hash(
        _ input: UnsafeRawBufferPointer,
        key: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
        personalization: Personalization?,
        into output: UnsafeMutableRawBufferPointer
    ) {
        Sodium.start()
        let status = csodium_blake2b(
            output.bytePointer, output.count, input.bytePointer, input.count, key.bytePointer, key.count,
            personalization?.pointer)
        precondition(status == 0, "BLAKE2b takes keys of 0...64 and returns hashes of 16...64 bytes")
    }

    /// Returns the unkeyed or keyed hash as bytes.
    package static func hash(
        _ input: [UInt8], key: [UInt8] = [], personalization: Personalization? = nil, count: Int
    ) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { output, initialized in
            input.withUnsafeBytes { input in
                key.withUnsafeBytes { key in
                    hash(
                        input, key: key, personalization: personalization, into: UnsafeMutableRawBufferPointer(output))
                }
            }
            initialized = count
        }
    }
}

/// The 16 bytes that separate two uses of one hash, or of one key (RFC 7693, section 2.5).
///
/// Every use in this project has its own, listed in `docs/spec/format.md`.
package struct Personalization: Sendable, Hashable {
    /// The text: exactly 16 bytes of ASCII.
    package let text: StaticString

    /// Wraps a literal of exactly 16 ASCII bytes. Another length is a programming error and ends the process.
    package init(_ text: StaticString) {
        precondition(text.utf8CodeUnitCount == 16 && text.hasPointerRepresentation, "a personalisation has 16 bytes")
        self.text = text
    }

    @inline(__always)
    var pointer: UnsafePointer<UInt8> { text.utf8Start }

    package static func == (a: Self, b: Self) -> Bool { "\(a.text)" == "\(b.text)" }
    package func hash(into hasher: inout Hasher) { hasher.combine("\(text)") }
}

/// Argon2id version 1.3 (RFC 9106) with one lane, the password hash of passphrase slots.
package enum Argon2id {
    /// The salt's size in bytes.
    package static let saltSize = 16
    /// The least number of bytes that libsodium derives.
    private static let minimumOutputSize = 16

    /// The cost of one guess.
    package struct Parameters: Hashable, Sendable {
        /// Passes over the memory.
        package let passes: UInt32
        /// Memory in KiB.
        package let memoryKiB: UInt32

        /// Creates parameters without checking bounds; see `validate()`.
        package init(passes: UInt32, memoryKiB: UInt32) {
            self.passes = passes
            self.memoryKiB = memoryKiB
        }

        /// RFC 9106, section 4, second recommended option: 3 passes over 64 MiB.
        package static let recommended = Parameters(passes: 3, memoryKiB: 64 * 1024)
        /// The least cost of a new slot, backup or protected file: 2 passes over 19 MiB.
        ///
        /// Source: OWASP Cheat Sheet Series, "Password Storage Cheat Sheet", section Argon2id.
        package static let minimum = Parameters(passes: 2, memoryKiB: 19 * 1024)
        /// The least cost that a reader accepts: 1 pass over 8 MiB. No writer creates a passphrase slot with less.
        package static let readable = Parameters(passes: 1, memoryKiB: 8 * 1024)
        /// The greatest cost that a file may require: 32 passes, 1 GiB. More would let a planted file exhaust the
        /// reader.
        package static let maximum = Parameters(passes: 32, memoryKiB: 1024 * 1024)

        /// Throws for costs outside `readable` to `maximum`. Call this before anything is allocated.
        ///
        /// - Throws: `CryptoError` `.parameterOutOfRange`.
        package func validate() throws(CryptoError) {
            guard (Self.readable.passes...Self.maximum.passes).contains(passes),
                (Self.readable.memoryKiB...Self.maximum.memoryKiB).contains(memoryKiB)
            else { throw CryptoError(.parameterOutOfRange, "Argon2id") }
        }

        /// Throws for costs that are not allowed for new files, including those below `minimum`.
        ///
        /// - Throws: `CryptoError` `.parameterOutOfRange`.
        package func validateForCreation() throws(CryptoError) {
            try validate()
            guard passes >= Self.minimum.passes, memoryKiB >= Self.minimum.memoryKiB else {
                throw CryptoError(.parameterOutOfRange, "Argon2id")
            }
        }
    }

    /// Derives `count` secret bytes from a passphrase.
    ///
    /// - Throws: `CryptoError` `.parameterOutOfRange` before any memory is allocated, `.outOfMemory` if the allocation
    ///   fails.
    package static func deriveKey(
        passphrase: borrowing SecretBytes, salt: UnsafeRawBufferPointer, parameters: Parameters, count: Int
    ) throws(CryptoError) -> SecretBytes {
        try parameters.validate()
        guard salt.count == saltSize, count >= minimumOutputSize else {
            throw CryptoError(.parameterOutOfRange, "Argon2id")
        }
        return try passphrase.withUnsafeBytes { passphrase throws(CryptoError) in
            try SecretBytes(count: count) { output throws(CryptoError) in
                let status = csodium_argon2id(
                    output.bytePointer, count, passphrase.baseAddress, passphrase.count, salt.bytePointer,
                    UInt64(parameters.passes), Int(parameters.memoryKiB) * 1024)
                guard status == 0 else { throw CryptoError(.outOfMemory, "Argon2id") }
            }
        }
    }
}
