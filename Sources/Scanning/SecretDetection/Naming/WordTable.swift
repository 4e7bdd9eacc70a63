/// A table of words and their values with lookup by bytes. Creating a string for each word would cost more than the
/// search.
struct WordTable<Value: Sendable>: Sendable {
    private struct Slot {
        let start: Int
        let count: Int
        let value: Value
    }

    /// The concatenated words.
    private var letters: [UInt8] = []
    /// The slots by hash, with linear probing. At least half of them are free.
    private var slots: [Slot?]

    init(_ words: some Collection<(String, Value)>) {
        var size = 8
        while size < words.count * 2 { size *= 2 }
        slots = Array(repeating: nil, count: size)
        for (word, value) in words { insert(Array(word.utf8), value) }
    }

    private mutating func insert(_ word: [UInt8], _ value: Value) {
        let slot = Slot(start: letters.count, count: word.count, value: value)
        letters += word
        var place = word.withUnsafeBytes { Self.hash(SearchText($0)) } & (slots.count - 1)
        while slots[place] != nil { place = (place + 1) & (slots.count - 1) }
        slots[place] = slot
    }

    /// Returns the value of a word, or `nil` if the table does not contain it.
    subscript(word: SearchText) -> Value? {
        var place = Self.hash(word) & (slots.count - 1)
        while let slot = slots[place] {
            if slot.count == word.count, holds(word, slot) { return slot.value }
            place = (place + 1) & (slots.count - 1)
        }
        return nil
    }

    func contains(_ word: SearchText) -> Bool { self[word] != nil }

    private func holds(_ word: SearchText, _ slot: Slot) -> Bool {
        for index in 0..<slot.count where letters[slot.start &+ index] != word.bytes[index] { return false }
        return true
    }

    /// Returns the FNV-1a hash. It needs no key, because searched text is never inserted into a table.
    private static func hash(_ word: SearchText) -> Int {
        var hash: UInt32 = 0x811C_9DC5
        for byte in word.bytes { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        return Int(hash ^ hash >> 15)
    }
}

extension WordTable: ExpressibleByDictionaryLiteral {
    init(dictionaryLiteral words: (String, Value)...) { self.init(words) }
}

/// A set of words.
typealias WordSet = WordTable<Void>

extension WordTable: ExpressibleByArrayLiteral where Value == Void {
    init(arrayLiteral words: String...) { self.init(words.map { ($0, ()) }) }
}
