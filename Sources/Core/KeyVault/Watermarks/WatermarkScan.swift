internal import CryptoPrimitives
internal import SharedFiles

/// The entries in a range of the watermark log, and the damage between them.
///
/// A torn entry shifts everything behind it. After an entry that is not authentic, the next one is searched at every
/// byte, so that damage costs only the damaged bytes.
struct WatermarkScan {
    private(set) var entries: [WatermarkEntry] = []
    /// The ranges of the file whose bytes belong to no entry.
    private(set) var damage: [Range<Int64>] = []

    /// The largest number of bytes that are read at once.
    private static let chunk = 1 << 20

    fileprivate mutating func read(
        _ file: borrowing Descriptor, from offset: Int64, key: borrowing SecretBytes
    ) throws(FileError) -> (next: Int64, end: Int64) {
        let size = try file.attributes().size
        var next = offset
        while next < size {
            // A hole has no entries. An entry that ends behind it may have its first bytes in it.
            let data = file.nextData(from: next) ?? size
            let start = max(next, data - Int64(WatermarkEntry.size - 1))
            addDamage(next..<start)
            next = start
            let count = Int(min(size - start, Int64(Self.chunk)))
            let isLast = start + Int64(count) == size
            let used = try withUnsafeTemporaryAllocation(byteCount: count, alignment: 8) {
                (buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int in
                let filled = try file.pread(into: buffer, at: start)
                let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<filled])
                return add(bytes, at: start, isLast: isLast || filled < count, key: key)
            }
            next += Int64(used)
            // Bytes before the end that were used up are all that is left.
            if isLast || used == 0 { break }
        }
        return (next, size)
    }

    /// Adds bytes of the file.
    ///
    /// - Parameter isLast: `true` if no bytes follow: the last ones count as damage then, until an entry is completed.
    /// - Returns: The number of bytes that need not be read again.
    mutating func add(
        _ bytes: UnsafeRawBufferPointer, at offset: Int64, isLast: Bool, key: borrowing SecretBytes
    ) -> Int {
        var (start, end) = (0, 0)
        while start < bytes.count {
            if let entry = Self.entry(in: bytes, at: start, key) {
                if start > end { addDamage(offset + Int64(end)..<offset + Int64(start)) }
                entries.append(entry)
                start += WatermarkEntry.size
                end = start
            } else {
                // The first bytes of an entry may have completed a torn one before it.
                start = Self.nextEntry(in: bytes, after: max(0, end - WatermarkEntry.size), key)
            }
        }
        let used = max(end, bytes.count - (WatermarkEntry.size - 1))
        addDamage(offset + Int64(end)..<offset + Int64(isLast ? bytes.count : used))
        return used
    }

    /// Adjacent ranges are one, wherever the file was divided for reading.
    private mutating func addDamage(_ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        if let last = damage.last, last.upperBound == range.lowerBound {
            damage[damage.count - 1] = last.lowerBound..<range.upperBound
        } else {
            damage.append(range)
        }
    }

    /// The number of entries that fit into the damage, each range rounded up.
    var damagedCount: Int { damage.reduce(0) { $0 + Self.entryCount(of: $1.count) } }

    /// Returns the number of entries that fit into `size` bytes, rounded up.
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

extension Descriptor {
    /// Adds the entries from an offset to the present end to a scan, however many they are.
    ///
    /// - Returns: The offset at which to go on later, as the last bytes may be the beginning of an entry; and the end.
    func read(
        into scan: inout WatermarkScan, from offset: Int64, key: borrowing SecretBytes
    ) throws(FileError) -> (next: Int64, end: Int64) {
        try scan.read(self, from: offset, key: key)
    }
}
