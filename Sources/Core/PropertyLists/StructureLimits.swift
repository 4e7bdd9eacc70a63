/// The limits on a payload's structure, checked before a decoder sees it.
///
/// A decoder recurses with its input, allocates for each value and trusts counts. Without limits, a key holder could
/// make it crash, hang or exhaust memory.
package struct StructureLimits: Sendable, Hashable {
    /// The number of levels of containers.
    package let depth: Int
    /// The number of values including keys. A value that is referenced twice counts twice.
    package let values: Int
    /// The number of bytes of text and data. Content that is referenced twice counts twice.
    package let size: Int

    /// The greatest depth of Foundation's JSON decoder. No configured limit exceeds it.
    package static let deepest = 512

    /// The limit on a member's key in UTF-8 bytes. Keys are hashed and compared, which is slow for long ones.
    package static let longestKey = 4096

    /// The limits for external files: entitlements, profiles, projects, preferences. 64 levels, 100,000 values, 16 MiB.
    package static let propertyList = StructureLimits(depth: 64, values: 100_000, size: 16 << 20)

    /// Nothing is counted against a limit, except depth.
    package static let unlimited = StructureLimits(depth: .max, values: .max, size: .max)

    /// Returns the number of UTF-8 bytes of a scalar.
    package static func size(of scalar: UInt32) -> Int {
        scalar < 0x80 ? 1 : scalar < 0x800 ? 2 : scalar < 0x10000 ? 3 : 4
    }

    /// Creates limits, clamped because `Int.max` means "any" and sums of two limits must not overflow.
    package init(depth: Int, values: Int, size: Int) {
        self.depth = min(max(0, depth), Self.deepest)
        self.values = min(max(1, values), Int(Int32.max))
        self.size = min(max(0, size), 1 << 40)
    }
}

/// The reason why a payload is passed to no decoder. It describes the structure, never the contents.
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
    /// A property list value that a record cannot contain.
    case unsupported(String)
    /// A payload that does not match its codec.
    case malformed(String)

    /// The fault as a sentence.
    package var reason: String {
        switch self {
        case .tooDeep(let limit): "It is nested deeper than \(limit) levels."
        case .tooManyValues(let limit): "It has more than \(limit) values."
        case .tooMuchContent(let limit): "Its expanded contents have more than \(limit) bytes."
        case .longKey: "A key in it has more than \(StructureLimits.longestKey) bytes."
        case .cycle: "A part of it contains itself."
        case .stackedMarks: "A text in it has more than \(MarkRun.longest) consecutive combining marks."
        case .unsupported(let what): "It holds \(what)."
        case .malformed(let what): "It is not a property list: \(what)."
        }
    }

    /// Returns the fault with the line where the reader stopped, if the line is useful.
    func at(line: Int) -> StructureFault {
        switch self {
        case .unsupported(let what): .unsupported("\(what), line \(line)")
        case .malformed(let what): .malformed("\(what), line \(line)")
        default: self
        }
    }
}

/// A counter of consecutive combining marks.
///
/// To compare and hash texts, Swift sorts each run of marks. With marks in the wrong order this takes quadratic time:
/// one text of 1 MiB took four minutes. The limit is that of the Stream-Safe Text Format (Unicode Standard Annex 15,
/// section 13), which no language's text exceeds.
package struct MarkRun {
    package static let longest = 30

    private var length = 0

    package init() {}

    /// Ends the run, at a character that is not a mark.
    package mutating func end() { length = 0 }

    /// Adds the next scalar. Returns `true` if the run exceeds the limit.
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
        // Latin and Greek before the first mark, ideographs and Hangul: most text skips the table lookup.
        case 0..<0x300, 0x3400..<0xA000, 0xAC00..<0xD800: false
        // Starters that decompose into marks.
        case 0xF73, 0xF75, 0xF81: true
        default: Unicode.Scalar(value).map { $0.properties.canonicalCombiningClass != .notReordered } ?? false
        }
    }
}
