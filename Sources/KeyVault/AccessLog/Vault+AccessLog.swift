internal import SharedFiles

extension Vault {
    /// Hands over every entry of the access log that is kept, oldest first, and whether it is authentic in its place; and
    /// checks the chain against the head that the vault noted at its last change.
    ///
    /// - Throws: `VaultError` `.file` or `.denied` where the log cannot be read, and as `current()`.
    package func readAccessLog(
        _ body: (AccessEntry, _ isAuthentic: Bool) -> Void = { _, _ in }
    ) throws(VaultError) -> AccessLogVerification {
        let noted = try current().body.state.logHead
        return try VaultError.onFiles("read the access log") { () throws(FileError) in
            try log.read(noted: noted, body)
        }
    }
}
