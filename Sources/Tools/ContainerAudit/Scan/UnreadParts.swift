internal import ContentDecoding

/// Reports the unread parts of a file in one finding.
struct UnreadParts {
    private let parts: [CarrierBudget.Unread]

    init(_ parts: [CarrierBudget.Unread]) { self.parts = parts }

    /// The number of parts that a finding lists.
    private static let most = 4

    func report(to found: ValueFindings) {
        guard !parts.isEmpty else { return }
        let shown = parts.prefix(Self.most).map { part in
            part.place.isEmpty ? part.fault.reason : "\(part.place): \(part.fault.reason)"
        }
        let rest = parts.count > Self.most ? ["More parts of it were not read."] : []
        found.add(
            ContentHit(
                check: .contentPartlyRead, severity: isHarmless ? .info : nil,
                detail: (shown + rest).joined(separator: " "), remedy: nil, range: nil))
    }

    /// True if all parts have unsupported forms, which hide no more than bytes sealed by another program would.
    private var isHarmless: Bool {
        parts.allSatisfy { if case .unsupported = $0.fault { true } else { false } }
    }
}

/// Detects files in forms that no carrier reader supports, although they may contain secrets.
enum UnreadForm {
    /// Returns the reason why a file that was searched as bytes was not parsed, or `nil` if there is no special reason.
    ///
    /// - Parameter head: The first bytes of the file.
    static func reason(_ head: [UInt8], of file: some ByteSource, _ subject: AuditSubject) -> String? {
        if isCompressed(head) || isCompressedArchive(head, file) { return "its compressed form is not read" }
        if isNamedDatabase(subject.entry.leaf), looksEncrypted(head) { return "it looks like an encrypted database" }
        return nil
    }

    // 7z, xz (its specification, section 2.1.1.1), Zstandard (RFC 8878, section 3.1.1), LZ4 frames, RAR, Apple's LZFSE.
    private static let magics: [[UInt8]] = [
        [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], [0x28, 0xB5, 0x2F, 0xFD],
        [0x04, 0x22, 0x4D, 0x18], Array("Rar!".utf8) + [0x1A, 0x07], Array("bvx2".utf8), Array("bvxn".utf8),
    ]

    private static func isCompressed(_ head: [UInt8]) -> Bool {
        if magics.contains(where: head.starts) { return true }
        // bzip2: the level, then the digits of pi at the start of every block.
        return head.starts(with: "BZh".utf8) && head.dropFirst(4).starts(with: [0x31, 0x41, 0x59, 0x26, 0x53, 0x59])
    }

    /// Returns whether a zip archive contains a compressed member, by its first member and the list at its end.
    private static func isCompressedArchive(_ head: [UInt8], _ file: some ByteSource) -> Bool {
        guard head.starts(with: [0x50, 0x4B, 3, 4]), head.count > 9 else { return false }
        if head[8] != 0 || head[9] != 0 { return true }
        let start = max(0, file.count - tailSize)
        guard let tail = try? file.bytes(at: start, count: Int(file.count - start)) else { return true }
        var index = 0
        while index + 11 < tail.count {
            let isEntry = tail[index] == 0x50 && tail[index + 1] == 0x4B && tail[index + 2] == 1 && tail[index + 3] == 2
            if isEntry, tail[index + 10] != 0 || tail[index + 11] != 0 { return true }
            index += 1
        }
        return false
    }

    private static let tailSize: Int64 = 64 << 10

    private static func isNamedDatabase(_ leaf: some StringProtocol) -> Bool {
        let name = leaf.lowercased()
        return [".db", ".sqlite", ".sqlite3", ".sqlitedb"].contains(where: name.hasSuffix)
    }

    /// Returns whether the bytes are distributed as those of a cipher, by a goodness-of-fit test. Random bytes fail it
    /// once in a million times, and database pages always fail it.
    private static func looksEncrypted(_ head: [UInt8]) -> Bool {
        guard head.count >= 1024 else { return false }
        var counts = [Int](repeating: 0, count: 256)
        for byte in head { counts[Int(byte)] += 1 }
        let expected = Double(head.count) / 256
        let distance = counts.reduce(0) { $0 + (Double($1) - expected) * (Double($1) - expected) / expected }
        return distance < 380
    }
}
