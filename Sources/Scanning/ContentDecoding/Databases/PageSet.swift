/// A set of page numbers, in memory that grows with the pages in it and not with the numbers.
struct PageSet {
    private static let perChunk: UInt32 = 1 << 12
    /// References into a file of holes could ask for a chunk each: beyond 32 MiB of them, nothing is added.
    private static let mostChunks = 1 << 16
    private var chunks: [UInt32: [UInt64]] = [:]

    /// Adds a number; false when it was there, or when the set is full.
    mutating func insert(_ number: UInt32) -> Bool {
        let (chunk, word, bit) = Self.place(of: number)
        if contains(number) || chunks.count >= Self.mostChunks && chunks[chunk] == nil { return false }
        chunks[chunk, default: [UInt64](repeating: 0, count: Int(Self.perChunk / 64))][word] |= bit
        return true
    }

    func contains(_ number: UInt32) -> Bool {
        let (chunk, word, bit) = Self.place(of: number)
        return chunks[chunk].map { $0[word] & bit != 0 } ?? false
    }

    /// Every number, in order.
    func forEach(_ body: (UInt32) throws(CarrierFault) -> Void) throws(CarrierFault) {
        for chunk in chunks.keys.sorted() {
            for offset in 0..<Self.perChunk where contains(chunk * Self.perChunk + offset) {
                try body(chunk * Self.perChunk + offset)
            }
        }
    }

    private static func place(of number: UInt32) -> (chunk: UInt32, word: Int, bit: UInt64) {
        let offset = number % perChunk
        return (number / perChunk, Int(offset / 64), 1 << UInt64(offset % 64))
    }
}
