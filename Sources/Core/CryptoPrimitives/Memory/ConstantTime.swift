internal import CSodium

/// Comparison in time independent of the position of the first difference.
package enum ConstantTime {
    /// Returns whether both buffers contain the same bytes. Buffers of different sizes are never equal.
    @inline(__always)
    package static func areEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.count == b.count, let first = a.baseAddress, let second = b.baseAddress else {
            return a.count == b.count
        }
        return csodium_compare(first, second, a.count) == 0
    }
}

/// Hexadecimal text for secrets, without table look-ups that would leak digits through the cache.
package enum Hexadecimal {
    /// Writes two lower-case digits for each byte of `bytes` into `text`, which is twice as long.
    package static func encode(_ bytes: UnsafeRawBufferPointer, into text: UnsafeMutableRawBufferPointer) {
        precondition(text.count == 2 * bytes.count, "hexadecimal text is twice as long as its bytes")
        guard let input = bytes.bytePointer, let output = text.bytePointer else { return }
        csodium_hex_encode(output, input, bytes.count)
    }

    /// Reads exactly `bytes.count` bytes from text of exactly twice that length.
    ///
    /// - Throws: `CryptoError` `.malformedEncoding` for another length or another character.
    package static func decode(
        _ text: UnsafeRawBufferPointer, into bytes: UnsafeMutableRawBufferPointer
    ) throws(CryptoError) {
        if text.isEmpty && bytes.isEmpty { return }
        guard let input = text.bytePointer, let output = bytes.bytePointer,
            csodium_hex_decode(output, bytes.count, input, text.count) == 0
        else { throw CryptoError(.malformedEncoding, "hexadecimal decoding") }
    }
}

extension UnsafeRawBufferPointer {
    @inline(__always)
    var bytePointer: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}

extension UnsafeMutableRawBufferPointer {
    @inline(__always)
    var bytePointer: UnsafeMutablePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}
