internal import Glibc

/// The composition of a text, which distinguishes words and identifiers from random text.
struct TextComposition {
    let letters: Int
    let capitals: Int
    let digits: Int
    let symbols: Int
    let blanks: Int
    /// The number of runs of letters. A capital after a lowercase letter begins a new one.
    private let runs: Int
    private let pairs: Int
    private let usualPairs: Int

    init(_ text: SearchText) {
        let (kinds, followings, usual) = (Self.kinds, Self.followings, Self.usual)
        var tally: UInt64 = 0
        var joined: UInt32 = 0
        var usualPairs: UInt32 = 0
        var (last, lastKind): (UInt8, UInt8) = (0, ByteKind.blank.rawValue)
        // The loop has no branches, because in random text they would be unpredictable.
        for byte in text.bytes.prefix(Self.longest) {
            let kind = kinds[Int(byte)]
            tally &+= 1 &<< UInt64(kind &* Self.tallyBits)
            let following = followings[Int(lastKind << 3 | kind)]
            joined &+= following
            usualPairs &+= following >> 16 & usual[Int(last & 31)] &>> UInt32(byte & 31)
            (last, lastKind) = (byte, kind)
        }
        func count(_ kind: ByteKind) -> Int {
            Int(tally >> UInt64(kind.rawValue &* Self.tallyBits) & (1 << UInt64(Self.tallyBits) - 1))
        }
        blanks = count(.blank)
        symbols = count(.symbol)
        digits = count(.digit)
        capitals = count(.capital)
        letters = count(.small) + capitals + count(.foreign)
        runs = Int(joined & 0xFFFF)
        pairs = Int(joined >> 16)
        self.usualPairs = Int(usualPairs)
    }

    /// True if the letters read like words of a language in Latin letters, in any joining style.
    var isWords: Bool {
        guard letters > 0 else { return false }
        if letters <= 3 { return true }
        return letters >= runs * 3 && usualPairs * 5 >= pairs * 4
    }

    /// True for words without digits.
    var isOnlyWords: Bool { digits == 0 && isWords }

    /// True for words with a few digits, as in identifiers: `oauth2_token_v1`.
    var isIdentifier: Bool { isWords && digits <= 4 && letters >= digits }

    private static let longest = 512
    /// The bits that are enough to count `longest` bytes of each of the six kinds in one number.
    private static let tallyBits: UInt8 = 10
}

/// The kind of a byte in a text.
private enum ByteKind: UInt8, CaseIterable {
    case blank, symbol, digit, small, capital
    /// A part of a character beyond ASCII, which counts as a letter.
    case foreign

    init(_ byte: UInt8) {
        if byte >= 128 {
            self = .foreign
        } else if byte.isLetter {
            self = byte.isCapital ? .capital : .small
        } else {
            self = byte.isDigit ? .digit : byte <= 32 ? .blank : .symbol
        }
    }

    private var isLetter: Bool { rawValue >= Self.small.rawValue }

    /// Returns the increment for a byte of this kind after one of another: 1 for a new run of letters, 1 << 16 for a
    /// pair of letters.
    func following(_ last: ByteKind) -> UInt32 {
        guard isLetter else { return 0 }
        if !last.isLetter || self == .capital && last == .small { return 1 }
        return self == .foreign || last == .foreign ? 0 : 1 << 16
    }
}

extension TextComposition {
    /// The kind of each byte.
    private static let kinds: [UInt8] = (0...255).map { ByteKind($0).rawValue }

    /// The increments, indexed by the kind of the previous byte and then its own, 8 to a row.
    private static let followings: [UInt32] = ByteKind.allCases.flatMap { last in
        (0..<8).map { (kind: UInt8) in ByteKind(rawValue: kind)?.following(last) ?? 0 }
    }

    /// The letters a to z that usually follow each letter, indexed by its lowest five bits. They cover 19 of 20 pairs
    /// in English and UI words of ten other languages.
    private static let usual: [UInt32] = [
        "", "abcdfgiklmnprstuvwxy", "aceijlorsuy", "acdefhiklmoprstu", "abcdefilorstu", "abcdefghiklmnopqrstuvwxy",
        "aefilorstuy", "aeghilnorstu", "aeilortu", "abcdefgklmnoprstvxz", "aeo", "aeilos", "acdefilmopstuvy",
        "abdeilmopsu", "acdefgiklnopstuvy", "abcdefgiklmnoprstuvw", "acdehiloprstuy", "u", "abcdefgiklmnoprstuvy",
        "acefhiklmnopstuwy", "acdefhilmoprstuwy", "abcdefgilmnprst", "aeio", "aehinors", "ceipt", "aelmnpst", "aei",
        "", "", "", "", "",
    ].map { (followers: String) in followers.utf8.reduce(0) { $0 | 1 << UInt32($1 & 31) } }
}

/// The entropy of a text's characters.
enum Entropy {
    /// Returns the Shannon entropy of the byte frequencies in bits per byte, from the first 1,024 bytes.
    static func bitsPerByte(_ text: SearchText) -> Float {
        let count = min(text.count, longest)
        guard count > 1 else { return 0 }
        let sum = withUnsafeTemporaryAllocation(of: UInt16.self, capacity: 256) { tally in
            tally.initialize(repeating: 0)
            var sum: Int64 = 0
            for byte in text.bytes[..<count] {
                let times = tally[Int(byte)]
                sum &+= steps[Int(times)]
                tally[Int(byte)] = times &+ 1
            }
            return sum
        }
        return logarithms[count] - Float(Double(sum) / unit) / Float(count)
    }

    private static let longest = 1024
    /// The fixed-point unit. Integers make the sum independent of the order of the bytes.
    private static let unit = Double(1 << 40)

    /// The increments of n log2 n from n to n + 1, in parts of `unit`.
    private static let steps: [Int64] = {
        let products = (0...longest).map { $0 < 2 ? 0 : Int64(Double($0) * log2(Double($0)) * unit) }
        return zip(products, products.dropFirst()).map { $1 - $0 }
    }()
    private static let logarithms: [Float] = (0...longest).map { $0 < 2 ? 0 : log2f(Float($0)) }
}
