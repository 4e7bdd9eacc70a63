/// Remembers pieces of pages by a hash with a key of this process, so that a log's hundred copies of a page are one.
struct SeenPieces {
    /// Beyond it everything counts as new: memory does not grow with the log.
    private static let most = 1 << 20
    private var hashes: Set<Int> = []

    /// Remembers a piece; false when it was known.
    mutating func insert(_ bytes: CarrierBytes, _ range: Range<Int>) -> Bool {
        let hash = hash(bytes, range)
        if hashes.count >= Self.most { return !hashes.contains(hash) }
        return hashes.insert(hash).inserted
    }

    private func hash(_ bytes: CarrierBytes, _ range: Range<Int>) -> Int {
        var hasher = Hasher()
        hasher.combine(range.count)
        bytes.all.span.withUnsafeBytes { all in
            hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: all[range.clamped(to: 0..<all.count)]))
        }
        return hasher.finalize()
    }
}
