internal import CryptoPrimitives
internal import Sealing

/// The roster's bytes (docs/spec/writers.md, section "Roster"): a head, parts, the team key's signature.
extension Roster {
    static let maximumWriters = 1024, maximumRules = 1024, maximumGrants = 256, maximumSuccessions = 64
    static let maximumRetained = 16_384, maximumNameSize = 512
    /// The longest label in bytes.
    package static let maximumLabelSize = 128
    static let signatureSize = 64
    private static let magic = Array("SEALROST".utf8)
    private static let format: UInt32 = 1

    private enum PartType {
        static let writer: UInt16 = 1, rule: UInt16 = 2, succession: UInt16 = 3, floor: UInt16 = 4
    }
    private static let critical: UInt16 = 1

    /// Everything before the signature.
    package var encoded: [UInt8] {
        var bytes = Self.magic
        bytes.appendInteger(Self.format)
        bytes.appendInteger(UInt32(0))
        id.withUnsafeBytes { bytes.append(contentsOf: $0) }
        bytes.appendInteger(version)
        bytes.appendInteger(signedAt)
        bytes.append(contentsOf: team.key.bytes)
        bytes.appendText(group)
        var parts: [UnknownPart] = writers.map { UnknownPart(type: PartType.writer, bytes: Self.bytes(of: $0)) }
        parts += rules.map { UnknownPart(type: PartType.rule, bytes: Self.bytes(of: $0)) }
        parts += successions.map {
            UnknownPart(
                type: PartType.succession, bytes: $0.former.key.bytes + $0.next.key.bytes + $0.signature)
        }
        if floor.period > 0 { parts.append(UnknownPart(type: PartType.floor, bytes: Self.bytes(of: floor))) }
        for part in parts { bytes.append(part, flags: Self.critical) }
        for part in unknownParts { bytes.append(part, flags: 0) }
        return bytes
    }

    private static func bytes(of writer: Writer) -> [UInt8] {
        var bytes = writer.publicKey.key.bytes
        bytes.appendInteger(UInt64(writer.state.rawValue))
        bytes.appendText(writer.label)
        bytes.appendInteger(UInt32(writer.retained.count))
        for record in writer.retained.sorted(by: RetainedRecord.isBefore) {
            bytes.appendText(record.name)
            bytes.appendInteger(record.sequence)
            bytes.append(contentsOf: record.digest)
        }
        return bytes
    }

    private static func bytes(of floor: VaultFloor) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendInteger(floor.period)
        bytes.appendInteger(floor.keyPeriod)
        return bytes
    }

    private static func bytes(of rule: Rule) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendInteger(UInt64(rule.pattern.kind.rawValue))
        bytes.appendText(rule.pattern.path)
        bytes.appendInteger(UInt32(rule.grants.count))
        for (writer, rights) in rule.grants.sorted(by: { $1.key.bytes.isAfter($0.key.bytes) }) {
            writer.bytes.withUnsafeBytes { bytes.append(contentsOf: $0) }
            bytes.appendInteger(UInt64(rights.rawValue))
        }
        return bytes
    }

    /// Reads everything before the signature.
    ///
    /// - Throws: `VaultError` `.malformedRoster`; `.unsupported` for a later format or an unknown critical part.
    package init(parsing bytes: ArraySlice<UInt8>) throws(VaultError) {
        var reader = RosterReader(bytes)
        guard try reader.take(8).elementsEqual(Self.magic) else {
            throw .malformedRoster("It does not begin with SEALROST.")
        }
        let format: UInt32 = try reader.integer()
        guard format == Self.format else { throw .unsupportedRoster("It has format \(format); known: 1.") }
        guard try reader.integer(UInt32.self) == 0 else { throw .unsupportedRoster("Reserved bytes are set.") }
        let id = Bytes16(try reader.take(16))
        let version: UInt64 = try reader.integer()
        let signedAt: UInt64 = try reader.integer()
        let team = TeamPublicKey(try reader.publicKey())
        let group = try reader.text(limit: Self.maximumNameSize)
        guard version > 0 else { throw .malformedRoster("Its version is 0.") }
        var parts = RosterParts()
        while !reader.isAtEnd { try parts.take(&reader) }
        self.init(
            group: group, id: id, version: version, signedAt: signedAt, team: team, writers: parts.writers,
            rules: parts.rules, successions: parts.successions, floor: parts.floor,
            unknownParts: parts.unknown)
        // A roster has only one encoding: encoding it again detects wrong order, duplicates and unused bits.
        guard encoded.elementsEqual(bytes) else { throw .malformedRoster("Its parts are not in canonical form.") }
    }

    /// The parts of a roster while it is parsed.
    private struct RosterParts {
        var writers: [Writer] = []
        var rules: [Rule] = []
        var successions: [Succession] = []
        var floor = VaultFloor()
        var unknown: [UnknownPart] = []

        mutating func take(_ reader: inout RosterReader) throws(VaultError) {
            let type: UInt16 = try reader.integer()
            let flags: UInt16 = try reader.integer()
            let size: UInt32 = try reader.integer()
            let bytes = try reader.take(Int(size))
            guard flags <= Roster.critical else { throw .unsupportedRoster("Unknown flags of a part.") }
            guard (1...4).contains(type) else {
                guard flags == 0 else { throw .unsupportedRoster("It has a critical part of type \(type).") }
                unknown.append(UnknownPart(type: type, bytes: Array(bytes)))
                return
            }
            var part = RosterReader(bytes)
            switch type {
            case PartType.writer: writers.append(try part.writer())
            case PartType.rule: rules.append(try part.rule())
            case PartType.succession:
                let (former, next) = (TeamPublicKey(try part.publicKey()), TeamPublicKey(try part.publicKey()))
                let signature = Array(try part.take(Roster.signatureSize))
                successions.append(Succession(former: former, next: next, signature: signature))
            default:
                floor = VaultFloor(period: try part.integer(), keyPeriod: try part.integer())
                guard floor.keyPeriod <= floor.period else {
                    throw .malformedRoster("Its lowest key period is above its lowest period.")
                }
            }
            guard part.isAtEnd else { throw .malformedRoster("A part of type \(type) is too long.") }
            guard writers.count <= Roster.maximumWriters, rules.count <= Roster.maximumRules,
                successions.count <= Roster.maximumSuccessions
            else { throw .malformedRoster("It has more parts than a roster may have.") }
        }
    }
}

extension Roster.RetainedRecord {
    static func isBefore(_ left: Self, _ right: Self) -> Bool {
        let (name, other) = (Array(left.name.utf8), Array(right.name.utf8))
        if name != other { return name.lexicographicallyPrecedes(other) }
        if left.sequence != right.sequence { return left.sequence < right.sequence }
        return left.digest.lexicographicallyPrecedes(right.digest)
    }
}

/// Parses a roster's bytes; a read past their end throws `.malformedRoster`.
struct RosterReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ count: Int) throws(VaultError) -> ArraySlice<UInt8> {
        guard count >= 0, count <= rest.count else { throw .malformedRoster("It is truncated.") }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func integer<Value: FixedWidthInteger>(_: Value.Type = Value.self) throws(VaultError) -> Value {
        try take(MemoryLayout<Value>.size).reversed().reduce(into: Value.zero) {
            $0 = $0 << 8 | Value(truncatingIfNeeded: $1)
        }
    }

    mutating func text(limit: Int) throws(VaultError) -> String {
        let size: UInt32 = try integer()
        guard size <= limit else { throw .malformedRoster("A text of \(size) bytes; \(limit) are allowed.") }
        guard let text = String(validating: try take(Int(size)), as: UTF8.self) else {
            throw .malformedRoster("A text is not UTF-8.")
        }
        return text
    }

    mutating func publicKey() throws(VaultError) -> Ed25519.PublicKey {
        let bytes = Array(try take(32))
        do throws(CryptoError) { return try Ed25519.PublicKey(validating: bytes) } catch {
            throw .malformedRoster("It names an invalid public key.")
        }
    }

    /// Reads a small number in 8 bytes.
    private mutating func number() throws(VaultError) -> UInt8 {
        let value: UInt64 = try integer()
        guard value < 256 else { throw .unsupportedRoster("Reserved bytes are set.") }
        return UInt8(value)
    }

    mutating func writer() throws(VaultError) -> Roster.Writer {
        let key = WriterPublicKey(try publicKey())
        guard let state = Roster.Writer.State(rawValue: try number()) else {
            throw .unsupportedRoster("It has a writer in an unknown state.")
        }
        let label = try text(limit: Roster.maximumLabelSize)
        let count: UInt32 = try integer()
        guard count <= Roster.maximumRetained, count == 0 || state == .retired else {
            throw .malformedRoster("\(count) records of a \(state) writer.")
        }
        var retained: Set<Roster.RetainedRecord> = []
        for _ in 0..<count {
            let name = try text(limit: Roster.maximumNameSize)
            let sequence: UInt64 = try integer()
            retained.insert(Roster.RetainedRecord(name: name, sequence: sequence, signedDigest: Array(try take(32))))
        }
        return Roster.Writer(key, label: label, state: state, retained: retained)
    }

    mutating func rule() throws(VaultError) -> Roster.Rule {
        guard let kind = GovernedPattern.Kind(rawValue: try number()) else {
            throw .unsupportedRoster("It has a pattern of an unknown kind.")
        }
        let path = try text(limit: Roster.maximumNameSize)
        guard let pattern = try? GovernedPattern(kind, path: path) else {
            throw .malformedRoster("It has an invalid pattern.")
        }
        let count: UInt32 = try integer()
        guard count <= Roster.maximumGrants else { throw .malformedRoster("A pattern with \(count) writers.") }
        var grants: [WriterID: Roster.Rights] = [:]
        for _ in 0..<count {
            let writer = WriterID(bytes: Bytes16(try take(16)))
            let rights = try number()
            guard rights & ~Roster.Rights.all.rawValue == 0 else {
                throw .unsupportedRoster("It grants an unknown right.")
            }
            grants[writer] = Roster.Rights(rawValue: rights)
        }
        return Roster.Rule(pattern, grants: grants)
    }
}

extension Bytes16 {
    fileprivate init(_ bytes: ArraySlice<UInt8>) { self = Array(bytes).withRawBytes { Bytes16($0) } }
}

extension [UInt8] {
    fileprivate mutating func append(_ part: Roster.UnknownPart, flags: UInt16) {
        appendInteger(part.type)
        appendInteger(flags)
        appendInteger(UInt32(part.bytes.count))
        append(contentsOf: part.bytes)
    }
}

extension VaultError {
    static func malformedRoster(_ reason: String) -> VaultError {
        VaultError(
            .malformedRoster, "read", "the roster", reason,
            advice: "Put the newest signed roster in its place: sealctl roster sign.")
    }

    static func unsupportedRoster(_ reason: String) -> VaultError {
        VaultError(.unsupported, "read", "the roster", reason, advice: "Update this program.")
    }
}
