internal import CryptoPrimitives

/// Bech32 (BIP 173) without its limit of 90 characters, as age uses it: a prefix, `1`, five bits for each character,
/// six characters of checksum.
///
/// It reads and writes in place, so that secrets stay in the caller's memory, and never uses a secret value as an
/// index.
struct Bech32: Sendable {
    /// The prefix in lower case, without the `1`.
    let prefix: StaticString
    /// The case of the whole text. The other case is refused, so that a key has only one text.
    let isUpperCase: Bool

    private static let alphabet: StaticString = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
    private static let checksumSize = 6

    /// Returns the length of the text of `byteCount` bytes.
    func textSize(byteCount: Int) -> Int {
        prefix.utf8CodeUnitCount + 1 + Self.groups(byteCount) + Self.checksumSize
    }

    /// Writes the text; it has exactly `textSize` characters.
    func encode(_ bytes: UnsafeRawBufferPointer, into text: UnsafeMutableRawBufferPointer) {
        precondition(text.count == textSize(byteCount: bytes.count), "Bech32 text has an exact size")
        var position = 0
        func write(_ character: UInt8) {
            text[position] = isUpperCase ? Self.upperCased(character) : character
            position += 1
        }
        for character in lowerPrefix { write(character) }
        write(UInt8(ascii: "1"))
        var checksum = Checksum(prefix: lowerPrefix)
        for index in 0..<Self.groups(bytes.count) {
            let group = Self.group(index, of: bytes)
            checksum.add(group)
            write(Self.character(group))
        }
        for _ in 0..<Self.checksumSize { checksum.add(0) }
        for index in 0..<Self.checksumSize { write(Self.character(checksum.closing(index))) }
    }

    /// Decodes exactly as many bytes as `bytes` has room for.
    ///
    /// - Throws: `CryptoError` `.malformedEncoding` for another prefix, case, length or character, a wrong checksum, or
    ///   padding bits that are not zero.
    func decode(
        _ text: UnsafeRawBufferPointer, into bytes: UnsafeMutableRawBufferPointer
    ) throws(CryptoError) {
        let malformed = CryptoError(.malformedEncoding, "Bech32")
        guard text.count == textSize(byteCount: bytes.count), hasPrefix(text) else { throw malformed }
        var checksum = Checksum(prefix: lowerPrefix)
        var isGood: UInt8 = 0xFF
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        let start = lowerPrefix.count + 1
        let groupCount = Self.groups(bytes.count)
        for index in start..<text.count {
            let (group, isKnown) = Self.value(of: lowerCased(text[index], &isGood))
            isGood &= isKnown
            checksum.add(group)
            if index - start < groupCount { isGood &= Self.put(group, index - start, into: bytes) }
        }
        guard isGood == 0xFF, checksum.fits else {
            ScratchMemory.wipe(bytes)
            throw malformed
        }
    }

    private var lowerPrefix: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount)
    }

    private func hasPrefix(_ text: UnsafeRawBufferPointer) -> Bool {
        let expected = lowerPrefix.map { isUpperCase ? Self.upperCased($0) : $0 } + [UInt8(ascii: "1")]
        return text.starts(with: expected)
    }

    /// Returns the character in lower case; a character of the wrong case clears `isGood`.
    private func lowerCased(_ character: UInt8, _ isGood: inout UInt8) -> UInt8 {
        let isLetter = (character & 0x40) >> 6
        let isLower = (character & 0x20) >> 5
        isGood &= Self.mask(isLetter & (isUpperCase ? isLower : 1 - isLower))
        return character | isLetter << 5
    }
}

/// Operations on groups of five bits, without branches on values or look-ups by them.
extension Bech32 {
    private static func groups(_ byteCount: Int) -> Int { (byteCount * 8 + 4) / 5 }

    /// Returns all bits set for 0, else no bits.
    private static func mask(_ value: UInt8) -> UInt8 {
        UInt8(truncatingIfNeeded: (UInt32(value) &- 1) >> 8)
    }

    private static func upperCased(_ character: UInt8) -> UInt8 { character ^ (character & 0x40) >> 1 }

    private static func character(_ group: UInt8) -> UInt8 {
        (0..<32).reduce(0) { $0 | (alphabet.utf8Start[$1] & mask(group ^ UInt8($1))) }
    }

    /// Returns the five bits of a character, and all bits set if the character is valid, else no bits.
    private static func value(of character: UInt8) -> (group: UInt8, isKnown: UInt8) {
        var (group, isKnown): (UInt8, UInt8) = (0, 0)
        for index in 0..<32 {
            let isThis = mask(character ^ alphabet.utf8Start[index])
            group |= UInt8(index) & isThis
            isKnown |= isThis
        }
        return (group, isKnown)
    }

    /// Returns five bits of a byte string, padded with zeros after its end.
    private static func group(_ index: Int, of bytes: UnsafeRawBufferPointer) -> UInt8 {
        let (byte, offset) = (index * 5 / 8, index * 5 % 8)
        let pair = UInt16(bytes[byte]) << 8 | (byte + 1 < bytes.count ? UInt16(bytes[byte + 1]) : 0)
        return UInt8(truncatingIfNeeded: pair >> (11 - UInt16(offset))) & 0x1F
    }

    /// Adds five bits to a byte string of zeros. Returns no bits if a set bit was lost after its end, else all bits.
    private static func put(_ group: UInt8, _ index: Int, into bytes: UnsafeMutableRawBufferPointer) -> UInt8 {
        let (byte, offset) = (index * 5 / 8, index * 5 % 8)
        let pair = UInt16(group) << (11 - UInt16(offset))
        bytes[byte] |= UInt8(pair >> 8)
        let spill = UInt8(truncatingIfNeeded: pair)
        guard byte + 1 < bytes.count else { return mask(spill) }
        bytes[byte + 1] |= spill
        return 0xFF
    }

    /// The checksum of BIP 173: the remainder of a division over the prefix and the groups.
    private struct Checksum {
        private static let generators: [UInt32] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3]
        private var remainder: UInt32 = 1

        init(prefix: UnsafeBufferPointer<UInt8>) {
            for character in prefix { add(character >> 5) }
            add(0)
            for character in prefix { add(character & 0x1F) }
        }

        mutating func add(_ group: UInt8) {
            let top = remainder >> 25
            remainder = (remainder & 0x1FF_FFFF) << 5 ^ UInt32(group)
            for bit in 0..<5 {
                remainder ^= Self.generators[bit] & (0 &- (top >> UInt32(bit) & 1))
            }
        }

        /// `true` if the input ended with its checksum.
        var fits: Bool { remainder == 1 }

        /// Returns one of the six final groups of a text, after six zeros were added for them.
        func closing(_ index: Int) -> UInt8 {
            UInt8(truncatingIfNeeded: (remainder ^ 1) >> UInt32(5 * (checksumSize - 1 - index))) & 0x1F
        }
    }
}
