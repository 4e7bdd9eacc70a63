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
