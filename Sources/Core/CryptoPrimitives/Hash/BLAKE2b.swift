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
