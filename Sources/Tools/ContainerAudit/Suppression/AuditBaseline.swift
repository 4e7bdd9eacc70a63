public import FoundationEssentials
internal import SealedState

/// The findings of an earlier audit, by fingerprint and how often each occurred: a later audit reports what is new.
public struct AuditBaseline: Sendable, Hashable {
    /// The id of the key that the fingerprints were made with.
    public let keyID: String
    /// How often each fingerprint occurred.
    public let counts: [String: Int]

    /// What a report lists. Findings without a fingerprint, and those that the report only counts, are not in it: make
    /// the report with limits that let it list everything.
    public init(of report: AuditReport, key: FingerprintKey) {
        keyID = key.id
        counts = report.findings.compactMap(\.fingerprint).reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    /// Reads what `json()` wrote.
    ///
    /// - Throws: `AuditError.malformedBaseline`.
    public init(json: Data) throws(AuditError) {
        do {
            let document = try json.withUnsafeBytes { try JSONCodec.decode(Document.self, from: $0) }
            let isSound = document.findings.allSatisfy { Fingerprint.isWellFormed($0.key) && $0.value > 0 }
            guard document.format == Document.format, isSound else { throw AuditError.malformedBaseline }
            (keyID, counts) = (document.key, document.findings)
        } catch {
            throw .malformedBaseline
        }
    }

    /// The baseline as JSON text with sorted keys: `format`, `key`, and `findings` with a number for each fingerprint.
    public func json() throws -> Data {
        try JSONCodec.encode(Document(format: Document.format, key: keyID, findings: counts))
    }

    private struct Document: Codable {
        static let format = "sealaudit-baseline-1"
        let format: String
        let key: String
        let findings: [String: Int]
    }
}
