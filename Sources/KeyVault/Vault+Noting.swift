internal import SharedFiles

/// What the access log is told.
extension Vault {
    /// Notes something that is no change. A log that cannot be written never fails it.
    func note(_ event: AccessEvent, subject: [UInt8]? = nil, outcome: AccessOutcome = .succeeded) {
        guard options.accessLog != .off else { return }
        _ = try? log.append(event, outcome: outcome, subject: subject, generation: generation)
    }

    /// Notes a change that is about to be written, and how far the log has come with it; nil where it is off or could
    /// not be written and need not.
    ///
    /// - Throws: `VaultError` `.logFailed`.
    func noteChange(
        _ event: AccessEvent, _ subject: [UInt8]?, generation: UInt64
    ) throws(VaultError) -> AccessLogHead? {
        guard options.accessLog != .off else { return nil }
        do throws(FileError) {
            return try log.append(event, outcome: .intended, subject: subject, generation: generation, durable: true)
        } catch {
            guard options.accessLog == .requiredForChanges else { return nil }
            throw VaultError(
                .logFailed, "change the vault", path, "Its access log cannot be written: \(error)",
                advice: "Mend its place, or allow changes that are not logged.",
                underlying: error)
        }
    }
}
