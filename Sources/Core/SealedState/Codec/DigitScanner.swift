/// Takes a date's text apart, byte by byte.
struct DigitScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard let first = rest.first, UInt32(first) == character.value else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Exactly that many digits as a number.
    mutating func number(digits: Int) -> Int? {
        let taken = rest.prefix(digits)
        guard taken.count == digits, taken.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        rest = rest.dropFirst(digits)
        return taken.reduce(0) { $0 * 10 + Int($1) - 0x30 }
    }

    /// A fraction of 1 to 9 digits as nanoseconds; 0 where there is none.
    mutating func fraction() -> Int? {
        guard skip(".") else { return 0 }
        let count = rest.prefix(10).prefix { (0x30...0x39).contains($0) }.count
        guard (1...9).contains(count), let number = number(digits: count) else { return nil }
        return (count..<9).reduce(number) { value, _ in value * 10 }
    }

    /// `Z` or `±hh:mm` as seconds east of UTC.
    mutating func offset() -> Int? {
        if skip("Z") || skip("z") { return 0 }
        let sign = skip("+") ? 1 : skip("-") ? -1 : 0
        guard sign != 0, let hours = number(digits: 2), skip(":"), let minutes = number(digits: 2), hours < 24,
            minutes < 60
        else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }
}
