internal import SharedFiles

/// The slots of lock files that writers hold at one moment, by `/proc/locks` (proc(5)).
enum HeldSlots {
    /// A slot of its own, to see whether the list tells of locks at all: that of the bytes `rotation`.
    private static let own = UInt64(0x6E6F_6974_6174_6F72) & 0x3FFF_FFFF_FFFF_FFFF
    /// A list that grows while it is read is not read for ever.
    private static let maximumSize = 16 << 20

    /// The slots that may be held in a lock file. Those of other lock files are among them, since the numbers that the list
    /// gives for a file are not everywhere the ones that stat(2) gives; a slot too many costs one look.
    ///
    /// - Returns: nil where the list cannot be read or does not show locks that are held.
    /// - Throws: `FileError` when the lock file cannot be used.
    static func now(of locks: LockFile) throws(FileError) -> [UInt64]? {
        // Shared: two rotations at once do not hinder each other.
        let proof = try locks.acquire(LockRange(slot: own), .shared, timeout: .seconds(1))
        let list = read()
        proof.unlock()
        guard let list else { return nil }
        let locks = list.split(separator: "\n").compactMap(Lock.init)
        guard locks.contains(Lock(slot: own, isExclusive: false)) else { return nil }
        return Set(locks.filter(\.isExclusive).map(\.slot)).sorted()
    }

    private static func read() -> String? {
        guard let file = try? Descriptor.openForReading(path: "/proc/locks") else { return nil }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < maximumSize {
            let count = chunk.withUnsafeMutableBytes { try? file.readSome(into: $0) }
            guard let count else { return nil }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += chunk[..<count]
        }
        return nil
    }

    private struct Lock: Equatable {
        let slot: UInt64
        let isExclusive: Bool

        init(slot: UInt64, isExclusive: Bool) {
            self.slot = slot
            self.isExclusive = isExclusive
        }

        /// `3: OFDLCK ADVISORY WRITE -1 fe:00:1234 77 77`: first and last byte of the range.
        init?(line: Substring) {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count == 8, words[1] == "OFDLCK", words[6] == words[7], let slot = UInt64(words[6]) else {
                return nil
            }
            self.init(slot: slot, isExclusive: words[3] == "WRITE")
        }
    }
}
