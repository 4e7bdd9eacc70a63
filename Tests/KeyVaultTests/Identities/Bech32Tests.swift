import CryptoPrimitives
import Testing

@testable import KeyVault

@Suite struct Bech32Tests {
    /// age's own example (its test kit). Another program's encoding and this one must agree, and so must the key pair.
    private static let ageIdentity = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX"
    private static let ageRecipient = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"
    private let identity = Bech32(prefix: "age-secret-key-", isUpperCase: true)
    private let recipient = Bech32(prefix: "age", isUpperCase: false)

    private func encode(_ bytes: [UInt8], _ encoding: Bech32) -> String {
        String(unsafeUninitializedCapacity: encoding.textSize(byteCount: bytes.count)) { text in
            bytes.withUnsafeBytes { encoding.encode($0, into: UnsafeMutableRawBufferPointer(text)) }
            return text.count
        }
    }

    private func decode(_ text: String, _ encoding: Bech32, count: Int) throws(CryptoError) -> [UInt8] {
        let bytes = try SecretBytes(count: count) { bytes throws(CryptoError) in
            try Array(text.utf8).withRawBytes { text throws(CryptoError) in try encoding.decode(text, into: bytes) }
        }
        return bytes.withUnsafeBytes { Array($0) }
    }

    @Test func anotherProgramsKeyPairIsReadAndWrittenAlike() throws {
        let scalar = try decode(Self.ageIdentity, identity, count: 32)
        #expect(scalar == [UInt8](repeating: 0x42, count: 32))
        let key = try IdentityKey(scalar.withRawBytes { SecretBytes(copying: $0) })
        #expect(encode(key.publicKey.bytes, recipient) == Self.ageRecipient)
        #expect(encode(scalar, identity) == Self.ageIdentity)
        #expect(try decode(Self.ageRecipient, recipient, count: 32) == key.publicKey.bytes)
    }

    /// The valid strings of BIP 173 whose groups form whole bytes.
    @Test func thePublishedStringsAgree() throws {
        #expect(encode([], Bech32(prefix: "a", isUpperCase: true)) == "A12UEL5L")
        #expect(encode([], Bech32(prefix: "a", isUpperCase: false)) == "a12uel5l")
        let all: [UInt8] = [
            0x00, 0x44, 0x32, 0x14, 0xc7, 0x42, 0x54, 0xb6, 0x35, 0xcf, 0x84, 0x65, 0x3a, 0x56, 0xd7, 0xc6, 0x75, 0xbe,
            0x77, 0xdf,
        ]
        let text = "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw"
        #expect(encode(all, Bech32(prefix: "abcdef", isUpperCase: false)) == text)
        #expect(try decode(text, Bech32(prefix: "abcdef", isUpperCase: false), count: 20) == all)
    }

    @Test(arguments: 0...70)
    func bytesOfEverySizeComeBack(count: Int) throws {
        for encoding in [identity, recipient] {
            let bytes = SecureRandom.bytes(count: count)
            let text = encode(bytes, encoding)
            #expect(text.utf8.count == encoding.textSize(byteCount: count))
            #expect(try decode(text, encoding, count: count) == bytes)
        }
    }

    @Test func anyOtherCharacterAnywhereIsRefused() {
        let good = Array(Self.ageRecipient.utf8)
        for index in good.indices {
            for byte in UInt8.min...UInt8.max where byte != good[index] {
                var bad = good
                bad[index] = byte
                // A String cannot be used, because not every byte is UTF-8.
                let isRefused = bad.withUnsafeBytes { bad in
                    withUnsafeTemporaryAllocation(byteCount: 32, alignment: 1) { room in
                        (try? recipient.decode(bad, into: room)) == nil
                    }
                }
                #expect(isRefused, "byte \(byte) at \(index)")
            }
        }
    }

    @Test func anotherLengthCaseOrPrefixIsRefused() {
        let good = Self.ageRecipient
        let bad = [
            "", "age", "age1", String(good.dropLast()), good + "q", String(good.dropFirst()), " " + good.dropLast(),
            good.uppercased(), "A" + good.dropFirst(), String(good.dropLast()) + good.suffix(1).uppercased(),
            "agf" + good.dropFirst(3), Self.ageIdentity,
        ]
        for text in bad {
            #expect(throws: CryptoError(.malformedEncoding, "Bech32")) {
                _ = try decode(text, recipient, count: 32)
            }
        }
        #expect(throws: CryptoError(.malformedEncoding, "Bech32")) {
            _ = try decode(Self.ageIdentity.lowercased(), identity, count: 32)
        }
    }

    @Test func bitsToSpareHaveToBeZero() throws {
        // One byte is two groups with two unused bits. Of the 32 texts for the same byte only one is accepted.
        let encoding = Bech32(prefix: "a", isUpperCase: false)
        let alphabet = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l")
        var taken: Set<[UInt8]> = []
        for first in alphabet {
            for second in alphabet {
                let groups = [first, second].compactMap { alphabet.firstIndex(of: $0) }.map { UInt8($0) }
                let text =
                    "a1\(first)\(second)" + BIP173.checksum("a", groups).map { String(alphabet[Int($0)]) }.joined()
                if let bytes = try? decode(text, encoding, count: 1) { taken.insert(bytes) }
                #expect(((try? decode(text, encoding, count: 1)) != nil) == (groups[1] & 3 == 0))
            }
        }
        #expect(taken.count == 256)
    }
}

/// The reference of BIP 173, as its text defines it.
private enum BIP173 {
    static func checksum(_ prefix: String, _ groups: [UInt8]) -> [UInt8] {
        let expanded = prefix.utf8.map { $0 >> 5 } + [0] + prefix.utf8.map { $0 & 31 }
        let value = polymod(expanded + groups + [0, 0, 0, 0, 0, 0]) ^ 1
        return (0..<6).map { UInt8((value >> (5 * (5 - UInt32($0)))) & 31) }
    }

    private static func polymod(_ values: [UInt8]) -> UInt32 {
        let generators: [UInt32] = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]
        return values.reduce(1) { checksum, value in
            let top = checksum >> 25
            let next = (checksum & 0x1ffffff) << 5 ^ UInt32(value)
            return generators.enumerated().reduce(next) { (top >> UInt32($1.offset)) & 1 == 1 ? $0 ^ $1.element : $0 }
        }
    }
}
