/// One file of a container as the audit saw it.
public struct AuditedFile: Sendable, Hashable {
    /// Its path below the container. Safe to print.
    public let path: String
    /// What it is.
    public let kind: FileClass
    /// Bytes.
    public let size: Int64
    /// Permission bits with set-id and sticky, `0o7777` at most; nil where it could not be asked.
    public let mode: UInt32?
    /// What its header says, where it is a sealed blob.
    public let record: SealedFacts?
    /// What became of opening it; nil for what is no sealed blob.
    public let verdict: Verdict?
}
