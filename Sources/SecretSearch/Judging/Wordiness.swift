/// What a text is made of, to tell words and identifiers from what a generator drew.
struct Wordiness {
    private(set) var letters = 0
    private(set) var capitals = 0
    private(set) var digits = 0
    private(set) var symbols = 0
    private(set) var blanks = 0
    /// Runs of letters; a capital after a small letter begins a new one.
    private var runs = 0
    private var pairs = 0
    private var usualPairs = 0

    init(_ text: SearchText) {
        var last: UInt8 = 0
        for position in 0..<min(text.count, 512) {
            let byte = text.bytes[position]
            add(byte, after: last)
            last = byte
        }
    }

    private mutating func add(_ byte: UInt8, after last: UInt8) {
        if byte.isLetter || byte >= 128 {
            addLetter(byte, after: last)
        } else if byte.isDigit {
            digits += 1
        } else if byte <= 32 {
            blanks += 1
        } else {
            symbols += 1
        }
    }

    private mutating func addLetter(_ byte: UInt8, after last: UInt8) {
        letters += 1
        let isCapital = byte.isCapital
        if isCapital { capitals += 1 }
        guard last.isLetter || last >= 128 else {
            runs += 1
            return
        }
        if isCapital, last.isSmall {
            runs += 1
        } else if byte < 128, last < 128 {
            pairs += 1
            if Self.isUsual(last.lowered, byte.lowered) { usualPairs += 1 }
        }
    }

    /// Whether the letters read like words of a language that is written in Latin letters, however they are joined.
    var isWords: Bool {
        guard letters > 0 else { return false }
        if letters <= 3 { return true }
        return letters >= runs * 3 && usualPairs * 5 >= pairs * 4
    }

    /// Words alone: no digit among them.
    var isOnlyWords: Bool { digits == 0 && isWords }

    /// Words with a few digits, as names of things are: `oauth2_token_v1`.
    var isIdentifier: Bool { isWords && digits <= 4 && letters >= digits }

    private static func isUsual(_ first: UInt8, _ second: UInt8) -> Bool {
        usual[Int(first) - 97] >> UInt32(second - 97) & 1 != 0
    }

    /// The letters that usually follow each letter, a to z: 19 of 20 pairs in English and UI words of ten other languages.
    private static let usual: [UInt32] = [
        "abcdfgiklmnprstuvwxy", "aceijlorsuy", "acdefhiklmoprstu", "abcdefilorstu", "abcdefghiklmnopqrstuvwxy",
        "aefilorstuy", "aeghilnorstu", "aeilortu", "abcdefgklmnoprstvxz", "aeo", "aeilos", "acdefilmopstuvy",
        "abdeilmopsu", "acdefgiklnopstuvy", "abcdefgiklmnoprstuvw", "acdehiloprstuy", "u", "abcdefgiklmnoprstuvy",
        "acefhiklmnopstuwy", "acdefhilmoprstuwy", "abcdefgilmnprst", "aeio", "aehinors", "ceipt", "aelmnpst", "aei",
    ].map { (followers: String) in followers.utf8.reduce(0) { $0 | 1 << UInt32($1 - 97) } }
}
