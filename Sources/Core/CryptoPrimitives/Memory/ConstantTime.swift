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

/// Base64 text of secrets, without table look-ups that would leak letters through the cache.
package enum SecretBase64 {
    /// Reads exactly `bytes.count` bytes from text in one of the two alphabets, with padding or without.
    ///
    /// - Throws: `CryptoError` `.malformedEncoding` for another length, another character and letters of both alphabets.
    package static func decode(
        _ text: UnsafeRawBufferPointer, into bytes: UnsafeMutableRawBufferPointer
    ) throws(CryptoError) {
        let hasPadding = bytes.count % 3 != 0 && text.count % 4 == 0
        let pads = hasPadding ? 3 - bytes.count % 3 : 0
        guard text.count >= pads, text.suffix(pads).allSatisfy({ $0 == UInt8(ascii: "=") }) else {
            throw CryptoError(.malformedEncoding, "base64 decoding")
        }
        // Reads every letter, so that the time reveals no more than the alphabet.
        let urlLetters = text.reduce(0) { count, letter in
            count + (letter == UInt8(ascii: "-") ? 1 : 0) + (letter == UInt8(ascii: "_") ? 1 : 0)
        }
        guard let input = text.bytePointer, let output = bytes.bytePointer,
            csodium_base64_decode(output, bytes.count, input, text.count - pads, urlLetters > 0 ? 1 : 0) == 0
        else { throw CryptoError(.malformedEncoding, "base64 decoding") }
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
