internal import CryptoPrimitives

/// The entries of a stretch of the watermark file, and what lies between them.
///
/// A torn entry shifts everything behind it. After one that is not authentic the next is looked for at every byte, so that
/// damage costs what is damaged and nothing else.
struct WatermarkScan {
    private(set) var entries: [WatermarkEntry] = []
    /// Where bytes lie that belong to no entry.
    private(set) var damage: [Range<Int>] = []
    /// Where the last entry ends.
    private(set) var end = 0

    init(_ bytes: UnsafeRawBufferPointer, key: borrowing SecretBytes) {
        var start = 0
        while start < bytes.count {
            if let entry = Self.entry(in: bytes, at: start, key) {
                entries.append(entry)
                start += WatermarkEntry.size
                end = start
            } else {
                let next = Self.nextEntry(in: bytes, after: start, key)
                damage.append(start..<next)
                start = next
            }
        }
    }

    /// How many entries the damage would hold, each stretch rounded up.
    var damagedCount: Int { damage.reduce(0) { $0 + Self.entryCount(of: $1.count) } }

    /// How many entries so many bytes would hold, rounded up.
    static func entryCount(of size: Int) -> Int { (size + WatermarkEntry.size - 1) / WatermarkEntry.size }

    private static func entry(
        in bytes: UnsafeRawBufferPointer, at start: Int, _ key: borrowing SecretBytes
    ) -> WatermarkEntry? {
        guard start + WatermarkEntry.size <= bytes.count else { return nil }
        return WatermarkEntry(
            parsing: UnsafeRawBufferPointer(rebasing: bytes[start..<start + WatermarkEntry.size]), key: key)
    }

    private static func nextEntry(
        in bytes: UnsafeRawBufferPointer, after start: Int, _ key: borrowing SecretBytes
    ) -> Int {
        var next = start + 1
        while next + WatermarkEntry.size <= bytes.count {
            let place = UnsafeRawBufferPointer(rebasing: bytes[next..<next + WatermarkEntry.size])
            if WatermarkEntry.isPlausible(place), WatermarkEntry(parsing: place, key: key) != nil { return next }
            next += 1
        }
        return bytes.count
    }
}
