/// One file of a container as the audit saw it.
public struct AuditedFile: Sendable, Hashable {
    /// Its path below the container. Safe to print.
    public let path: String
    /// What it is.
    public let kind: FileClass
    /// Bytes.
    public let size: Int64
    /// Bytes of it that lie on the disk: fewer than `size` where it has large holes.
    public let storedSize: Int64
    /// Whether its contents are not sealed, wherever it lies: a quarantined copy of such a file is plaintext too.
    public let isPlaintext: Bool
    /// Permission bits with set-id and sticky, `0o7777` at most; nil where it could not be asked.
    public let mode: UInt32?
    /// What its header says, where it is a sealed blob.
    public var record: SealedFacts? { sealed?.facts }
    /// What became of opening it; nil for what is no sealed blob.
    public let verdict: Verdict?
    private let sealed: Sealed?

    /// Apart, because most of a hundred thousand files have none of it.
    private final class Sealed: Sendable, Hashable {
        let facts: SealedFacts
        init(_ facts: SealedFacts) { self.facts = facts }
        static func == (a: Sealed, b: Sealed) -> Bool { a.facts == b.facts }
        func hash(into hasher: inout Hasher) { hasher.combine(facts) }
    }

    /// - Parameters:
    ///   - storedSize: All bytes unless stated.
    ///   - isPlaintext: As the kind says unless stated.
    init(
        path: String, kind: FileClass, size: Int64, storedSize: Int64? = nil, isPlaintext: Bool? = nil, mode: UInt32?,
        record: SealedFacts?, verdict: Verdict?
    ) {
        self.path = path
        self.kind = kind
        self.size = size
        self.storedSize = storedSize ?? size
        self.isPlaintext = isPlaintext ?? kind.isPlaintext
        self.mode = mode
        self.verdict = verdict
        sealed = record.map(Sealed.init)
    }
}

extension AuditedFile: Codable {
    private enum Key: String, CodingKey { case path, kind, size, storedSize, isPlaintext, mode, record, verdict }

    /// Reads what `encode(to:)` writes.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let mode = try container.decode(String?.self, forKey: .mode).map { text in
            guard let mode = UInt32(text, radix: 8) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .mode, in: container, debugDescription: "Not a mode such as 0600.")
            }
            return mode
        }
        self.init(
            path: try container.decode(String.self, forKey: .path),
            kind: try container.decode(FileClass.self, forKey: .kind),
            size: try container.decode(Int64.self, forKey: .size),
            storedSize: try container.decode(Int64.self, forKey: .storedSize),
            isPlaintext: try container.decode(Bool.self, forKey: .isPlaintext), mode: mode,
            record: try container.decode(SealedFacts?.self, forKey: .record),
            verdict: try container.decode(Verdict?.self, forKey: .verdict))
    }

    /// Writes every field, the mode as `0600`; what is not known is null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(path, forKey: .path)
        try container.encode(kind, forKey: .kind)
        try container.encode(size, forKey: .size)
        try container.encode(storedSize, forKey: .storedSize)
        try container.encode(isPlaintext, forKey: .isPlaintext)
        try container.encode(mode.map(Self.octal), forKey: .mode)
        try container.encode(record, forKey: .record)
        try container.encode(verdict, forKey: .verdict)
    }

    /// At least four octal digits.
    private static func octal(_ mode: UInt32) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

/// What became of opening a sealed blob.
public enum Verdict: Sendable, Hashable, CustomStringConvertible {
    /// Its contents were opened: authentic, in its place, not behind what was accepted before.
    case verified
    /// It was not opened, since no key was at hand; nothing that was seen speaks against it.
    case unverified
    /// A reader refuses it, for that reason: a code of `StoreError`, such as `tampered`.
    case refused(String)

    /// `verified`, `unverified`, or `refused` with the code in brackets.
    public var description: String {
        switch self {
        case .verified: "verified"
        case .unverified: "unverified"
        case .refused(let code): "refused (\(code))"
        }
    }
}

extension Verdict: Codable {
    private enum Key: String, CodingKey { case state, code }

    /// Reads `{"state": "refused", "code": "tampered"}`; without a refusal the code is null.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        switch try container.decode(String.self, forKey: .state) {
        case "verified": self = .verified
        case "unverified": self = .unverified
        case "refused": self = .refused(try container.decode(String.self, forKey: .code))
        default:
            throw DecodingError.dataCorruptedError(forKey: .state, in: container, debugDescription: "No known verdict.")
        }
    }

    private var code: String? {
        if case .refused(let code) = self { code } else { nil }
    }

    /// Writes what `init(from:)` reads.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch self {
        case .verified: try container.encode("verified", forKey: .state)
        case .unverified: try container.encode("unverified", forKey: .state)
        case .refused: try container.encode("refused", forKey: .state)
        }
        try container.encode(code, forKey: .code)
    }
}
