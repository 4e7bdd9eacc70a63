internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles

/// The stable name of a finding across audits: `v1:`, the check's id, and 32 hexadecimal digits.
///
/// The digits are a keyed hash of the check, the file's path, the position in its structure, the name and the value.
/// Line numbers and offsets are excluded, so that a finding that moves within a text keeps its fingerprint. See
/// `docs/decisions/0018-fingerprints-are-keyed.md`.
struct Fingerprint {
    private let key: [UInt8]

    init(_ key: FingerprintKey) { self.key = key.bytes }

    /// - Parameters:
    ///   - place: The position in the file's structure; empty for the file itself.
    ///   - name: The value's name.
    ///   - value: The value; empty for a finding without one.
    func text(
        check: String, path: String, place: String = "",
        name: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
        value: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
    ) -> String {
        var input = hash(value, .fingerprintValue)
        for part in [check, path, place] { Self.append(part.utf8, to: &input) }
        Self.append(name, to: &input)
        let digest = input.withUnsafeBytes { hash($0, .fingerprint) }
        return "v1:\(check):\(digest.withUnsafeBytes { $0.hexadecimal })"
    }

    private func hash(_ input: UnsafeRawBufferPointer, _ use: Personalization) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 16) { output, count in
            key.withUnsafeBytes { key in
                BLAKE2b.hash(input, key: key, personalization: use, into: UnsafeMutableRawBufferPointer(output))
            }
            count = 16
        }
    }

    /// With its length before it, so that no two lists of parts are the same bytes.
    private static func append(_ part: some Collection<UInt8>, to input: inout [UInt8]) {
        withUnsafeBytes(of: UInt64(part.count).littleEndian) { input += $0 }
        input += part
    }

    /// Returns whether a word has the form of a fingerprint.
    static func isWellFormed(_ word: some StringProtocol) -> Bool {
        let parts = word.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 3 && parts[0] == "v1" && !parts[1].isEmpty && isHexadecimal(parts[2], count: 32)
    }

    /// Returns whether a part of a text is inside a fingerprint, which is derived from a secret but is not one.
    static func covers(_ part: Range<Int>, of text: UnsafeRawBufferPointer) -> Bool {
        // The limit exceeds the length of a fingerprint with any check's id.
        guard part.count <= longest else { return false }
        let isPart = { (byte: UInt8) in byte > 0x20 && byte < 0x7F && !"\"'<>,;()[]{}".utf8.contains(byte) }
        let first = max(0, part.lowerBound - longest)
        let last = min(text.count, part.upperBound + longest)
        let start = text[first..<part.lowerBound].lastIndex { !isPart($0) }.map { $0 + 1 } ?? first
        let end = text[part.upperBound..<last].firstIndex { !isPart($0) } ?? last
        let word = text[start..<end]
        guard word.starts(with: "v1:".utf8) else { return false }
        return isWellFormed(String(decoding: word, as: UTF8.self))
    }

    private static let longest = 128

    static func isHexadecimal(_ word: some StringProtocol, count: Int) -> Bool {
        word.utf8.count == count && word.utf8.allSatisfy(\.isLowerHexDigit)
    }
}

extension Personalization {
    fileprivate static let fingerprintValue = Personalization("SealedState.fpv1")
    fileprivate static let fingerprint = Personalization("SealedState.fpf1")
    static let fingerprintKeyID = Personalization("SealedState.fpi1")
}

/// The key of fingerprints. Without it, values cannot be tested against an ignore file.
///
/// The auditor keeps the key in a private file and uses the same one each time, because another key changes every
/// fingerprint. The key opens nothing.
public struct FingerprintKey: Sendable {
    /// The 32 bytes, for storage by the caller.
    public let bytes: [UInt8]

    /// Creates a key from 32 random bytes, or returns `nil` for another number of bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    /// Creates a random key.
    public init() { bytes = SecureRandom.bytes(count: Self.size) }

    /// The size of a key in bytes.
    public static let size = 32

    /// The identifier of the key in ignore lists and baselines: 16 hexadecimal digits that reveal nothing about it.
    public var id: String {
        BLAKE2b.hash([], key: bytes, personalization: .fingerprintKeyID, count: 16).prefix(8)
            .withUnsafeBytes { $0.hexadecimal }
    }
}
