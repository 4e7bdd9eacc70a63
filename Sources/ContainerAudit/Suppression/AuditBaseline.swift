/// The findings of an earlier audit, by fingerprint and count.
public struct AuditBaseline: Sendable, Hashable {
}
