/// A file of a container as the audit saw it.
public struct AuditedFile: Sendable, Hashable {
    /// The path relative to the container. Safe to print.
    public let path: String
    /// The class of the file.
    public let kind: FileClass
    /// The size in bytes.
    public let size: Int64
    /// The bytes stored on the disk: fewer than `size` for a file with large holes.
    public let storedSize: Int64
    /// True if the contents are not sealed, in any place: a quarantined copy of such a file is plaintext too.
    public let isPlaintext: Bool
    /// The permission bits with set-id and sticky, at most `0o7777`, or `nil` if unavailable.
    public let mode: UInt32?
    /// The facts in the header of a sealed blob.
    public var record: SealedFacts? { sealed?.facts }
    /// The result of opening a sealed blob, or `nil` for other files.
    public let verdict: Verdict?
    private let sealed: Sealed?

    /// A separate object, because most of a hundred thousand files have no facts.
    private final class Sealed: Sendable, Hashable {
        let facts: SealedFacts
        init(_ facts: SealedFacts) { self.facts = facts }
        static func == (a: Sealed, b: Sealed) -> Bool { a.facts == b.facts }
        func hash(into hasher: inout Hasher) { hasher.combine(facts) }
    }

    /// - Parameters:
    ///   - storedSize: By default all bytes.
    ///   - isPlaintext: By default determined by the kind.
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

    /// Decodes the output of `encode(to:)`.
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

    /// Encodes every field, the mode as `0600`, unknown values as null.
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

    /// Returns at least four octal digits.
    private static func octal(_ mode: UInt32) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

/// The result of opening a sealed blob.
public enum Verdict: Sendable, Hashable, CustomStringConvertible {
    /// The contents were opened: authentic, in their place, and not older than an accepted state.
    case verified
    /// The blob was not opened, because no key was available. No fault was found.
    case unverified
    /// The blob is refused by readers for that reason: a code of `StoreError`, such as `tampered`.
    case refused(String)

    /// The text `verified`, `unverified`, or `refused` with the code in brackets.
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

    /// Decodes `{"state": "refused", "code": "tampered"}`. Without a refusal the code is null.
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

    /// Encodes the format that `init(from:)` decodes.
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
