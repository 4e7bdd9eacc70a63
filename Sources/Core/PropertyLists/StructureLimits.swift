/// How much structure a payload may have before a decoder sees it.
///
/// A decoder recurses with its input, allocates for each value and trusts counts: a key holder could otherwise make it
/// crash, hang or bloat.
package struct StructureLimits: Sendable, Hashable {
    /// The levels of containers.
    package let depth: Int
    /// The values, keys included; one that is referenced twice counts twice.
    package let values: Int
    /// The bytes of text and data; what is referenced twice counts twice.
    package let size: Int

    /// What Foundation's JSON decoder goes down to; deeper than that no limit of a user's reaches.
    package static let deepest = 512

    /// The bytes that the key of a member may have as UTF-8: keys are hashed and compared, which takes long for long ones.
    package static let longestKey = 4096

    /// For files from outside: entitlements, profiles, projects, preferences. 64 levels, 100,000 values, 16 MiB.
    package static let propertyList = StructureLimits(depth: 64, values: 100_000, size: 16 << 20)

    /// The bytes of a scalar as UTF-8.
    package static func size(of scalar: UInt32) -> Int {
        scalar < 0x80 ? 1 : scalar < 0x800 ? 2 : scalar < 0x10000 ? 3 : 4
    }

    /// Limits are clamped: one such as `Int.max` means "any", and sums of two of them must not overflow.
    package init(depth: Int, values: Int, size: Int) {
        self.depth = min(max(0, depth), Self.deepest)
        self.values = min(max(1, values), Int(Int32.max))
        self.size = min(max(0, size), 1 << 40)
    }
}

/// Why a payload is given to no decoder. It tells of the structure, never of the contents.
package enum StructureFault: Error, Hashable, Sendable {
    /// More levels of containers than allowed.
    case tooDeep(limit: Int)
    /// More values than allowed, each counted as often as it is referenced.
    case tooManyValues(limit: Int)
    /// More bytes of text and data than allowed, counted as often as they are referenced.
    case tooMuchContent(limit: Int)
    /// A key of more bytes than `StructureLimits.longestKey`.
    case longKey
    /// A container of a property list that contains itself.
    case cycle
    /// More combining marks in a row than a text of any language has.
    case stackedMarks
    /// Something that a property list can hold and a record cannot.
    case unsupported(String)
    /// Not what its codec says.
    case malformed(String)

    /// What is wrong, as a sentence.
    package var reason: String {
        switch self {
        case .tooDeep(let limit): "It is nested deeper than \(limit) levels."
        case .tooManyValues(let limit): "It has more than \(limit) values."
        case .tooMuchContent(let limit): "Its contents, written out, have more than \(limit) bytes."
        case .longKey: "A key in it has more than \(StructureLimits.longestKey) bytes."
        case .cycle: "A part of it contains itself."
        case .stackedMarks: "A text in it has over \(MarkRun.longest) combining marks in a row."
        case .unsupported(let what): "It holds \(what)."
        case .malformed(let what): "It is no property list: \(what)."
        }
    }

    /// The same with the line where the reader stopped, where that says something.
    func at(line: Int) -> StructureFault {
        switch self {
        case .unsupported(let what): .unsupported("\(what), line \(line)")
        case .malformed(let what): .malformed("\(what), line \(line)")
        default: self
        }
    }
}

/// Counts combining marks in a row.
///
/// To compare and hash texts, Swift sorts each run of marks; with marks in the wrong order that takes the square of
/// their number: one text of 1 MiB took four minutes. The limit is that of the Stream-Safe Text Format (Unicode
/// Standard Annex 15, section 13), which no language's text exceeds.
package struct MarkRun {
    package static let longest = 30

    private var length = 0

    package init() {}

    /// A character that is no mark.
    package mutating func end() { length = 0 }

    /// Takes the next scalar; whether the run is too long with it.
    package mutating func exceeds(with scalar: UInt32) -> Bool {
        guard Self.isMark(scalar) else {
            length = 0
            return false
        }
        length += 1
        return length > Self.longest
    }

    private static func isMark(_ value: UInt32) -> Bool {
        switch value {
        // Latin, Greek up to the first mark; ideographs and Hangul: most text, without a look at the tables.
        case 0..<0x300, 0x3400..<0xA000, 0xAC00..<0xD800: false
        // Starters that decompose into marks.
        case 0xF73, 0xF75, 0xF81: true
        default: Unicode.Scalar(value).map { $0.properties.canonicalCombiningClass != .notReordered } ?? false
        }
    }
}
