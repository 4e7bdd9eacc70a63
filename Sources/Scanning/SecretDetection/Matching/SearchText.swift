internal import Glibc

/// The bytes that are searched. Positions out of range are valid and empty.
struct SearchText {
    let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var count: Int { bytes.count }

    /// Returns the byte at a position, or 0 out of range.
    @inline(__always) subscript(position: Int) -> UInt8 {
        position >= 0 && position < bytes.count ? bytes[position] : 0
    }

    /// Returns a part of the bytes, clamped to the available range.
    func slice(_ range: Range<Int>) -> SearchText {
        let range = range.clamped(to: 0..<bytes.count)
        return SearchText(UnsafeRawBufferPointer(rebasing: bytes[range]))
    }

    func holds(_ pattern: [UInt8], at position: Int) -> Bool {
        guard position >= 0, pattern.count <= bytes.count - position else { return false }
        for index in pattern.indices where bytes[position + index] != pattern[index] { return false }
        return true
    }

    func holds(_ pattern: StaticString, at position: Int) -> Bool {
        let pattern = UnsafeBufferPointer(start: pattern.utf8Start, count: pattern.utf8CodeUnitCount)
        guard position >= 0, pattern.count <= bytes.count - position else { return false }
        for index in pattern.indices where bytes[position + index] != pattern[index] { return false }
        return true
    }

    func equals(_ pattern: StaticString) -> Bool { count == pattern.utf8CodeUnitCount && holds(pattern, at: 0) }

    /// Returns the same as `holds(_:at:)` for a lowercase pattern and a text in any case.
    func holdsFolded(_ pattern: StaticString, at position: Int) -> Bool {
        let pattern = UnsafeBufferPointer(start: pattern.utf8Start, count: pattern.utf8CodeUnitCount)
        guard position >= 0, pattern.count <= bytes.count - position else { return false }
        for index in pattern.indices where bytes[position + index].lowered != pattern[index] { return false }
        return true
    }

    /// Returns the end of the run of `members` that begins at a position.
    @inline(__always)
    func end(of members: ByteClass, from position: Int, atMost limit: Int = 1 << 20) -> Int {
        guard position >= 0 else { return position }
        var end = position
        let bound = min(bytes.count, position + limit)
        while end < bound, members.contains(bytes[end]) { end += 1 }
        return end
    }

    /// Returns the start of the run of `members` that ends before a position.
    @inline(__always)
    func start(of members: ByteClass, before position: Int, atMost limit: Int = 1 << 20) -> Int {
        var start = min(position, bytes.count)
        let bound = max(0, start - limit)
        while start > bound, members.contains(bytes[start - 1]) { start -= 1 }
        return start
    }

    /// Returns the first position of a text within a range.
    func first(_ pattern: StaticString, in range: Range<Int>) -> Int? {
        let range = range.clamped(to: 0..<count)
        let size = pattern.utf8CodeUnitCount
        guard size > 0, range.count >= size, let base = bytes.baseAddress else { return nil }
        let head = Int32(pattern.utf8Start.pointee)
        let end = range.upperBound - size + 1
        var position = range.lowerBound
        while position < end, let hit = memchr(base + position, head, end - position) {
            position = UnsafeRawPointer(hit) - base
            if holds(pattern, at: position) { return position }
            position += 1
        }
        return nil
    }

    /// Returns the same as `first(_:in:)` for a lowercase pattern and a text in any case.
    func firstFolded(_ pattern: StaticString, in range: Range<Int>) -> Int? {
        let range = range.clamped(to: 0..<count)
        let size = pattern.utf8CodeUnitCount
        guard size > 0, range.count >= size else { return nil }
        let head = pattern.utf8Start.pointee
        for position in range.lowerBound...(range.upperBound - size)
        where bytes[position].lowered == head && holdsFolded(pattern, at: position) { return position }
        return nil
    }

    func allSatisfy(_ members: ByteClass) -> Bool { end(of: members, from: 0, atMost: count) == count }

    /// Returns whether a word can begin at a position: it follows no byte of the class, or only the letter or the two
    /// digits of an escape (`\n`, `%20`, `\u0022`).
    func beginsWord(at position: Int, unlike members: ByteClass) -> Bool {
        let before = self[position - 1]
        guard position > 0, members.contains(before) else { return true }
        if self[position - 2] == UInt8(ascii: "\\"), ByteClass.escapeLetter.contains(before) { return true }
        if self[position - 3] == UInt8(ascii: "%"), ByteClass.hex.contains(before) {
            return ByteClass.hex.contains(self[position - 2])
        }
        return holds("\\u00", at: position - 6)
    }
}

extension ByteClass {
    fileprivate static let escapeLetter = ByteClass("nrtbf")
}

extension UInt8 {
    /// The lowercase letter of a capital.
    @inline(__always) var lowered: UInt8 { self &- 65 < 26 ? self | 0x20 : self }
    @inline(__always) var isCapital: Bool { self &- 65 < 26 }
    @inline(__always) var isSmall: Bool { self &- 97 < 26 }
    @inline(__always) var isLetter: Bool { (self | 0x20) &- 97 < 26 }
    @inline(__always) var isDigit: Bool { self &- 48 < 10 }
}
