internal import CryptoPrimitives
internal import FoundationEssentials
internal import SealedState
internal import SharedFiles

/// The fields of another program's JSON that records store in another form, and the record that the result resembles.
///
/// Records store dates as text (RFC 3339). Foundation's `JSONEncoder` writes them as numbers by default, which have no
/// mark of a date: a program names them. A field is a key of the JSON, `expiresAt`, or a key with those above it,
/// `session.expiresAt`. The key may be at any depth, and arrays on the way are passed: the field
/// `sessions.expiresAt`, also written `sessions[].expiresAt`, is in each element of `sessions`. If several of the
/// named fields end at one value, the longest counts. A field that is an object names the numbers in it that no other
/// field names, such as the values of a dictionary. A text of digits alone counts as a number.
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
            // One rounding: milliseconds since 1970 have no fraction, seconds do.
            case .unixMilliseconds: Date(timeIntervalSinceReferenceDate: (number - 978_307_200_000) / 1000)
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

extension RecordConversion {
    /// The same conversion with one spelling of each field, `s.a` for `s[].a`.
    ///
    /// - Throws: `StoreError` `.invalidName` for an empty field, and for one that is stated twice with different
    ///   meanings.
    func normalized() throws(StoreError) -> RecordConversion {
        var result = RecordConversion(golden: golden)
        for (field, epoch) in dates {
            let name = try Self.name(field)
            guard result.dates.updateValue(epoch, forKey: name) ?? epoch == epoch else { throw Self.twice(field) }
        }
        for field in numbers {
            let name = try Self.name(field)
            guard result.dates[name] == nil else { throw Self.twice(field) }
            result.numbers.insert(name)
        }
        return result
    }

    private static func name(_ field: String) throws(StoreError) -> String {
        let name = field.split(separator: "[]").joined()
        guard !name.isEmpty else { throw fault(field, "A field of a record has a name.") }
        return name
    }

    private static func twice(_ field: String) -> StoreError {
        fault(field, "The field is stated twice, with different meanings.")
    }

    private static func fault(_ field: String, _ reason: String) -> StoreError {
        StoreError(
            .invalidName, StoreError.plaintextImport, field.printable, reason,
            advice: "State each field once, as a date or as a number; nothing was imported.")
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
    /// The most keys of a named field.
    private let longest: Int

    /// - Parameters:
    ///   - json: Valid JSON.
    ///   - conversion: A normalized one.
    init(in json: UnsafeRawBufferPointer, _ conversion: RecordConversion) {
        self.json = json
        (dates, numbers) = (conversion.dates, conversion.numbers)
        missing = numbers.union(dates.keys)
        longest = missing.map { $0.split(separator: ".", omittingEmptySubsequences: false).count }.max() ?? 0
        JSONFields.forEach(in: json) { path, kind, range in
            switch kind {
            case .number: add(path, range, Double(String(decoding: json[range], as: UTF8.self)) ?? 0, isText: false)
            case .text:
                guard let number = Self.number(inText: json[range]) else { return }
                add(path, range, number, isText: true)
            // A date that is absent, and a list of dates that is empty, are no wrong names.
            case .null, .array: missing.subtract(path.names(upTo: longest))
            case .object, .truth: break
            }
        }
    }

    /// Returns the number of a text of digits alone, with its quotation marks.
    private static func number(inText literal: Slice<UnsafeRawBufferPointer>) -> Double? {
        let digits = literal.dropFirst().dropLast()
        guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Double(String(decoding: digits, as: UTF8.self))
    }

    private mutating func add(_ path: FieldPath, _ range: Range<Int>, _ number: Double, isText: Bool) {
        for name in path.names(upTo: longest) {
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
        if DateLikeness.isDate(number, below: path.keys, isText: isText) { unmapped.insert(path.text) }
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

/// The judgement whether a number is a date, by the keys above it and its size. It is a guess.
enum DateLikeness {
    /// Last words of keys of dates. Any number between 1900 and 2100 under such a key looks like a date.
    private static let endings: Set = ["at", "date", "dates", "datetime", "timestamp", "timestamps"]
    /// Words of keys of dates and of other numbers, such as durations.
    private static let words: Set = [
        "birthday", "changed", "created", "day", "deadline", "dob", "due", "end", "exp", "iat", "issued", "last",
        "nbf", "on", "seen", "since", "start", "times", "ts", "updated", "used", "valid", "visited",
    ]
    /// Ends of words that are written as one: `createdat`, `validuntil`, `lastlogin`.
    private static let suffixes = ["date", "time", "until", "modified", "login", "edat", "enat", "entat"]
    /// The years 1900 to 2100 in seconds since 2001 and since 1970.
    private static let reference = -3_187_296_000.0...3_155_760_000
    private static let unix = -2_208_988_800.0...4_133_980_800
    /// `Date.distantPast` and `Date.distantFuture` in seconds since 2001.
    private static let distant: Set = [-63_114_076_800.0, 63_113_904_000]
    private static let year = 31_536_000.0
    /// The years 2005 to 2039 in seconds since 2001, since 1970, and in milliseconds.
    private static let present = [
        126_230_400.0...1_230_768_000, 1_104_537_600.0...2_208_988_800, 1_104_537_600_000.0...2_208_988_800_000,
    ]

    /// Returns whether a number looks like a date.
    ///
    /// - Parameter keys: The keys above it; the last is its own, or that of the array with it.
    static func isDate(_ number: Double, below keys: [String], isText: Bool) -> Bool {
        guard let last = keys.last else { return false }
        // No counter has a fraction; moments have.
        if number != number.rounded(), present.contains(where: { $0.contains(number) }) { return true }
        let isTime =
            reference.contains(number) || unix.contains(number) || unix.contains(number / 1000)
            || distant.contains(number)
        guard isTime else { return false }
        if !isText, isNamed(last) { return true }
        return abs(number) >= year && keys.contains { isNamed($0) || words(of: $0).contains(where: isWord) }
    }

    private static func isNamed(_ key: String) -> Bool { words(of: key).last.map(endings.contains) ?? false }

    private static func isWord(_ word: String) -> Bool {
        words.contains(word) || word.hasPrefix("expir") || suffixes.contains { word.hasSuffix($0) }
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
