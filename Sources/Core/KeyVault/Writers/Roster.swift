package import Sealing

/// A group's list of writers and of the names that each may write (docs/spec/writers.md, section "Roster").
///
/// It does no input or output. A parsed roster serialises to the same bytes.
package struct Roster: Sendable, Hashable {
    /// A program with a writer key.
    package struct Writer: Sendable, Hashable {
        package enum State: UInt8, Sendable {
            /// The writer may write.
            case active = 1
            /// The writer no longer writes; the records that the roster lists stay valid.
            case retired = 2
            /// All records of the writer are invalid.
            case revoked = 3
        }

        package let publicKey: WriterPublicKey
        /// A name for users.
        package var label: String
        package var state: State
        /// The records of a retired writer that stay valid; empty for every other.
        package var retained: Set<RetainedRecord>

        package init(
            _ publicKey: WriterPublicKey, label: String, state: State = .active, retained: Set<RetainedRecord> = []
        ) {
            self.publicKey = publicKey
            self.label = label
            self.state = state
            self.retained = retained
        }

        package var id: WriterID { publicKey.id }
    }

    /// A record of a retired writer that stays valid.
    package struct RetainedRecord: Sendable, Hashable {
        package let name: String
        package let sequence: UInt64
        /// The first 32 bytes of the signed hash.
        package let digest: [UInt8]

        package init(name: String, sequence: UInt64, signedDigest: [UInt8]) {
            self.name = name
            self.sequence = sequence
            digest = Array(signedDigest.prefix(32))
        }
    }

    /// The rights of a writer on the records of a pattern.
    package struct Rights: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package static let write = Rights(rawValue: 1)
        package static let delete = Rights(rawValue: 2)
        package static let all: Rights = [.write, .delete]
    }

    /// The writers of the names that a pattern governs. Without writers, the names are read-only.
    package struct Rule: Sendable, Hashable {
        package let pattern: GovernedPattern
        package var grants: [WriterID: Rights]

        package init(_ pattern: GovernedPattern, grants: [WriterID: Rights]) {
            self.pattern = pattern
            self.grants = grants
        }
    }

    /// A statement by which a team key names its successor.
    package struct Succession: Sendable, Hashable {
        package let former: TeamPublicKey
        package let next: TeamPublicKey
        package let signature: [UInt8]
    }

    /// A part that is not critical and of a kind that this version does not know, kept byte for byte.
    package struct UnknownPart: Sendable, Hashable {
        package let type: UInt16
        package let bytes: [UInt8]
    }

    package let group: String
    /// A random id, the same in every version.
    package let id: Bytes16
    /// The version from 1; each signed roster has a higher one.
    package var version: UInt64
    /// Milliseconds since 1970, for people.
    package var signedAt: UInt64
    /// The key that signs it.
    package var team: TeamPublicKey
    /// The writers by id, ascending.
    package private(set) var writers: [Writer]
    /// The rules by pattern, ascending.
    package private(set) var rules: [Rule]
    /// The successions from the first team key to the signing one, in order.
    package var successions: [Succession]
    /// The oldest state of the group's vault that readers accept.
    package var floor: VaultFloor
    package let unknownParts: [UnknownPart]

    /// - Parameters:
    ///   - writers: If two have the same id, the last one counts.
    ///   - rules: If two have the same pattern, the last one counts.
    package init(
        group: String, id: Bytes16, version: UInt64, signedAt: UInt64, team: TeamPublicKey, writers: [Writer] = [],
        rules: [Rule] = [], successions: [Succession] = [], floor: VaultFloor = VaultFloor(),
        unknownParts: [UnknownPart] = []
    ) {
        self.group = group
        self.id = id
        self.version = version
        self.signedAt = signedAt
        self.team = team
        self.writers = []
        self.rules = []
        self.successions = successions
        self.floor = floor
        self.unknownParts = unknownParts
        for writer in writers { set(writer) }
        for rule in rules { set(rule) }
    }

    /// Returns the writer of an id.
    package func writer(_ id: WriterID) -> Writer? { writers.first { $0.id == id } }

    /// Adds a writer, or replaces the one of the same key.
    package mutating func set(_ writer: Writer) {
        writers.removeAll { $0.id == writer.id }
        let place = writers.firstIndex { $0.id.bytes.isAfter(writer.id.bytes) } ?? writers.endIndex
        writers.insert(writer, at: place)
    }

    /// Adds a rule, or replaces the one of the same pattern.
    package mutating func set(_ rule: Rule) {
        remove(rule.pattern)
        rules.insert(rule, at: rules.firstIndex { rule.pattern < $0.pattern } ?? rules.endIndex)
    }

    /// Removes the rule of a pattern.
    package mutating func remove(_ pattern: GovernedPattern) { rules.removeAll { $0.pattern == pattern } }

    /// Returns the rule that governs a name, the one with the longest pattern; `nil` if the name is not governed.
    package func rule(for name: String) -> Rule? {
        rules.filter { $0.pattern.governs(name) }.max { $0.pattern.precision < $1.pattern.precision }
    }

    /// Returns the rights of a writer on a name by its rule alone; `nil` if no rule governs the name.
    package func rights(of writer: WriterID, for name: String) -> Rights? {
        rule(for: name).map { $0.grants[writer] ?? [] }
    }
}

/// The names that a rule governs: one name, or all names below whole segments.
///
/// The text is `accounts/ada`, `accounts/*`, or `*` for every name that is not the library's own.
package struct GovernedPattern: Sendable, Hashable, Comparable, CustomStringConvertible {
    package enum Kind: UInt8, Sendable {
        case name = 1
        case prefix = 2
    }

    package let kind: Kind
    /// The name, or the segments before the `*` without the last slash; empty only for `*`.
    package let path: String

    /// - Throws: `VaultError` `.invalidArgument`.
    package init(_ text: String) throws(VaultError) {
        let isPrefix = text == "*" || text.hasSuffix("/*")
        try self.init(isPrefix ? .prefix : .name, path: isPrefix ? String(text.dropLast(text == "*" ? 1 : 2)) : text)
    }

    init(_ kind: Kind, path: String) throws(VaultError) {
        guard (kind == .prefix && path.isEmpty) || Self.isName(path) else {
            throw VaultError(
                .invalidArgument, "use the pattern", path,
                "A pattern is a record's name, whole segments followed by /*, or * alone.",
                advice: "Use a pattern such as accounts/ada, accounts/* or *.")
        }
        self.kind = kind
        self.path = path
    }

    package var description: String {
        switch kind {
        case .name: path
        case .prefix: path.isEmpty ? "*" : path + "/*"
        }
    }

    /// Returns whether it governs a record's name. `a/*` governs `a/b`, neither `a` nor `ab`. `*` does not govern names
    /// that begin with `_sealed/`; only a pattern that contains this prefix does.
    package func governs(_ name: String) -> Bool {
        let (name, path) = (name.utf8, path.utf8)
        switch kind {
        case .name: return name.elementsEqual(path)
        case .prefix where path.isEmpty: return !name.starts(with: Self.reserved)
        case .prefix:
            return name.count > path.count + 1 && name.starts(with: path) && name.dropFirst(path.count).first == 0x2F
        }
    }

    /// The rank of a pattern: a name before every prefix, then the prefix with the most bytes.
    var precision: Int { kind == .name ? Int.max : path.utf8.count }

    package static func < (left: Self, right: Self) -> Bool {
        (left.kind.rawValue, left.path) < (right.kind.rawValue, right.path)
    }

    private static let reserved = Array("_sealed/".utf8)

    /// Returns whether a text is a record name (docs/app-groups.md): segments of letters, digits, `.`, `_`, `-`, none
    /// with a leading dot.
    private static func isName(_ text: String) -> Bool {
        guard (1...512).contains(text.utf8.count) else { return false }
        let segments = text.utf8.split(separator: 0x2F, omittingEmptySubsequences: false)
        return segments.count <= 8
            && segments.allSatisfy { segment in
                (1...200).contains(segment.count) && segment.first != UInt8(ascii: ".")
                    && segment.allSatisfy(isAllowed)
            }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

extension Bytes16 {
    /// Compares byte by byte, from the first.
    func isAfter(_ other: Bytes16) -> Bool {
        withUnsafeBytes { left in other.withUnsafeBytes { right in right.lexicographicallyPrecedes(left) } }
    }
}
