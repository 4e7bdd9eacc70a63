/// Numbers as JSON writes them.
enum JSONNumber {
    /// Nil for what is none.
    static func value(of word: UnsafeRawBufferPointer) -> Double? {
        guard let first = word.first, 0x30...0x39 ~= first || first == UInt8(ascii: "-"), word.count <= 400 else {
            return nil
        }
        let digits = word.dropFirst(first == UInt8(ascii: "-") ? 1 : 0)
        if !digits.isEmpty, digits.count <= 15, digits.allSatisfy({ 0x30...0x39 ~= $0 }) {
            let number = digits.reduce(0) { $0 * 10 + Int($1) - 0x30 }
            return Double(first == UInt8(ascii: "-") ? -number : number)
        }
        // Nothing else that Swift takes for a number, such as hexadecimal ones.
        guard digits.allSatisfy({ 0x30...0x39 ~= $0 || ".eE+-".utf8.contains($0) }) else { return nil }
        return Double(String(decoding: word, as: UTF8.self))
    }
}
