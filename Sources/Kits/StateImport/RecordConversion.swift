internal import CryptoPrimitives
internal import FoundationEssentials
internal import SealedState

/// The fields of another program's JSON that records store in another form, and the record that the result resembles.
///
/// Records store dates as text (RFC 3339). Foundation's `JSONEncoder` writes them as numbers by default, which have no
/// mark of a date: a program names them. A field is a key of the JSON, `expiresAt`, or a key with those above it,
/// `session.expiresAt`. The key may be at any depth, and arrays on the way are passed: the field
/// `sessions.expiresAt`, also written `sessions[].expiresAt`, is in each element of `sessions`. If several of the
/// named fields end at one value, the longest counts.
public struct RecordConversion: Sendable, Hashable {
    /// The unit and the zero of a date that is a number.
    public enum Epoch: String, Sendable, Hashable, CaseIterable {
        /// Seconds since 2001: the default of `JSONEncoder`, `deferredToDate`.
        case reference
        /// Seconds since 1970: `secondsSince1970`.
        case unix
        /// Milliseconds since 1970: `millisecondsSince1970`.
        case unixMilliseconds = "unix-ms"

        func date(_ number: Double) -> Date {
            switch self {
            case .reference: Date(timeIntervalSinceReferenceDate: number)
            case .unix: Date(timeIntervalSince1970: number)
            case .unixMilliseconds: Date(timeIntervalSince1970: number / 1000)
            }
        }
    }

    /// The fields whose numbers are dates: they become text.
    public var dates: [String: Epoch]
    /// The fields whose numbers look like dates, and stay numbers.
    public var numbers: Set<String>
    /// The path of a JSON text in the form that the reading program's type encodes, or of a golden record of
    /// `SealedStateTestKit`. A record with other fields, types or forms of dates is refused.
    public var golden: String?

    /// Creates a conversion; without arguments, one that changes nothing.
    public init(dates: [String: Epoch] = [:], numbers: Set<String> = [], golden: String? = nil) {
        self.dates = dates
        self.numbers = numbers
        self.golden = golden
    }
}

/// The dates of a JSON text: those that a conversion names, and numbers that look like dates and have no name in it.
struct DateFields {
    /// The replacements of byte ranges, in their order.
    private var replacements: [(range: Range<Int>, text: [UInt8])] = []
    /// The named fields under which no number was found.
    private(set) var missing: Set<String>
    /// Fields whose numbers look like dates.
    private(set) var unmapped: Set<String> = []
    /// Fields whose numbers are no dates of the years 0 to 9999.
    private(set) var unrepresentable: Set<String> = []

    private let json: UnsafeRawBufferPointer
    private let dates: [String: RecordConversion.Epoch]
    private let numbers: Set<String>

    /// - Parameter json: Valid JSON.
    init(in json: UnsafeRawBufferPointer, _ conversion: RecordConversion) {
        self.json = json
        dates = Dictionary(conversion.dates.map { (Self.name($0.key), $0.value) }) { first, _ in first }
        numbers = Set(conversion.numbers.map(Self.name))
        missing = numbers.union(dates.keys)
        JSONFields.forEach(in: json) { path, kind, range in
            guard kind == .number else { return }
            add(path, range, Double(String(decoding: json[range], as: UTF8.self)) ?? 0)
        }
    }

    private static func name(_ field: String) -> String { field.split(separator: "[]").joined() }

    private mutating func add(_ path: FieldPath, _ range: Range<Int>, _ number: Double) {
        for name in path.names {
            if let epoch = dates[name] {
                missing.remove(name)
                guard let text = DateText.string(from: epoch.date(number)) else {
                    unrepresentable.insert(path.text)
                    return
                }
                return replacements.append((range, Array("\"\(text)\"".utf8)))
            }
            if numbers.contains(name) {
                missing.remove(name)
                return
            }
        }
        if DateLikeness.isDate(number, named: path.lastKey) { unmapped.insert(path.text) }
    }

    /// Returns the JSON with the dates as text.
    func converted() -> PlaintextBuffer {
        let grown = replacements.reduce(0) { $0 + $1.text.count - $1.range.count }
        var result = PlaintextBuffer(count: json.count + grown)
        result.withUnsafeMutableBytes { output in
            var target = 0
            var start = 0
            for (range, text) in replacements + [(json.count..<json.count, [])] {
                let kept = UnsafeRawBufferPointer(rebasing: json[start..<range.lowerBound])
                UnsafeMutableRawBufferPointer(rebasing: output[target...]).copyMemory(from: kept)
                target += kept.count
                UnsafeMutableRawBufferPointer(rebasing: output[target...]).copyBytes(from: text)
                target += text.count
                start = range.upperBound
            }
        }
        return result
    }
}

/// The judgement whether a number is a date, by its key and its size.
enum DateLikeness {
    /// Last words of keys of dates. Any number between 1900 and 2100 under such a key looks like a date.
    private static let endings: Set = ["at", "date", "dates", "datetime", "timestamp", "timestamps"]
    /// Words of keys of dates and of other numbers, such as durations.
    private static let words: Set = [
        "birthday", "changed", "created", "day", "deadline", "due", "exp", "iat", "issued", "modified", "nbf",
        "on", "seen", "since", "time", "times", "until", "updated", "used", "visited",
    ]
    /// The years 1900 to 2100 in seconds since 2001 and since 1970.
    private static let reference = -3_187_296_000.0...3_155_760_000
    private static let unix = -2_208_988_800.0...4_133_980_800
    /// `Date.distantPast` and `Date.distantFuture` in seconds since 2001.
    private static let distant: Set = [-63_114_076_800.0, 63_113_904_000]
    private static let year = 31_536_000.0

    /// Returns whether a number looks like a date.
    static func isDate(_ number: Double, named key: String) -> Bool {
        let words = words(of: key)
        let isNamed = words.last.map(endings.contains) ?? false
        guard isNamed || words.contains(where: isWord) else { return false }
        let isTime =
            reference.contains(number) || unix.contains(number) || unix.contains(number / 1000)
            || distant.contains(number)
        return isTime && (isNamed || abs(number) >= year)
    }

    private static func isWord(_ word: String) -> Bool {
        words.contains(word) || word.hasPrefix("expir") || word.hasSuffix("date") || word.hasSuffix("time")
    }

    /// Returns the words of a key in lower case: `tokenExpiresAt`, `token_expires_at` and `token-expires-at` have
    /// three.
    private static func words(of key: String) -> [String] {
        var words: [String] = []
        var wasLower = false
        for character in key {
            guard character.isLetter || character.isNumber else {
                wasLower = false
                words.append("")
                continue
            }
            if words.isEmpty || (character.isUppercase && wasLower) { words.append("") }
            words[words.count - 1] += character.lowercased()
            wasLower = !character.isUppercase
        }
        return words.filter { !$0.isEmpty }
    }
}
