/// The words of a name in small letters, parted by case, digits and signs: at most 12, of the last 96 bytes.
struct NameWords {
    private static let longest = 96
    private static let most = 12

    /// The words, one behind the other.
    private let letters: UnsafeMutableRawBufferPointer
    /// Where each ends in them.
    private let ends: UnsafeMutableRawBufferPointer
    /// How many words before the last 12 there are.
    private let passed: Int
    let count: Int

    /// Calls back with the words of a name; they are gone behind that.
    static func split<Result>(_ name: SearchText, _ body: (NameWords) -> Result) -> Result {
        withUnsafeTemporaryAllocation(byteCount: longest * 2, alignment: 1) { memory in
            body(NameWords(name, .init(rebasing: memory[..<longest]), .init(rebasing: memory[longest...])))
        }
    }

    private init(
        _ name: SearchText, _ letters: UnsafeMutableRawBufferPointer, _ ends: UnsafeMutableRawBufferPointer
    ) {
        var (size, start, words) = (0, 0, 0)
        func finish() {
            guard size > start else { return }
            ends[words] = UInt8(size)
            start = size
            words += 1
        }
        for position in max(0, name.count - Self.longest)..<name.count {
            let byte = name.bytes[position]
            guard byte.isLetter || byte >= 128 else {
                finish()
                continue
            }
            if byte.isCapital {
                let last = name[position - 1]
                if last.isSmall || last.isCapital && name[position + 1].isSmall { finish() }
            }
            letters[size] = byte.lowered
            size += 1
        }
        finish()
        (self.letters, self.ends) = (letters, ends)
        passed = max(0, words - Self.most)
        count = words - passed
    }

    subscript(index: Int) -> SearchText { self[index..<index + 1] }

    /// Some words written together.
    subscript(words: Range<Int>) -> SearchText {
        let first = words.lowerBound + passed
        let start = first == 0 ? 0 : Int(ends[first - 1])
        return SearchText(UnsafeRawBufferPointer(letters)).slice(start..<Int(ends[words.upperBound + passed - 1]))
    }
}
