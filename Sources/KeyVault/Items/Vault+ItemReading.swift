public import CryptoPrimitives

/// Finding items. Every call looks at the file first, so that another program's change is seen at once.
extension Vault {
    /// What the vault says of one item. Its value is not touched, and the access log is not written.
    ///
    /// - Throws: `VaultError` `.itemNotFound`, `.invalidArgument`; those of every look at the vault, such as `.absent`
    ///   or `.corrupt`. A locked class does not matter.
    public func item(service: String, account: String) throws(VaultError) -> VaultItem {
        let name = try ItemName(service: service, account: account, operation: Self.finding, path: path)
        return VaultItem(try find(name).entry)
    }

    /// All items, or one service's, sorted by service and account byte by byte. No value is touched.
    ///
    /// - Parameter service: The service to list; nil for all.
    /// - Throws: `VaultError`, those of every look at the vault.
    public func items(service: String? = nil) throws(VaultError) -> [VaultItem] {
        let table = try current().body.items
        guard let service else { return table.entries.map(VaultItem.init) }
        return table.entries(ofService: Array(service.utf8)).map(VaultItem.init)
    }

    /// Lends an item's value for the length of a call: in guarded memory, wiped when `body` returns.
    ///
    /// Nothing is copied out; the pointer must not outlive the call. Its start may have any alignment. The access log
    /// says that the value was read before `body` sees it; a log that cannot be written does not keep it back.
    /// - Throws: `VaultError` `.itemNotFound`; `.locked` where the class of its accessibility is locked; `.wrongDevice`
    ///   for a value that belongs to another machine, `.noMachineIdentity` where this one has no id; `.corrupt` for one
    ///   that does not fit its entry; `.invalidArgument`; those of every look at the vault.
    public func withValue<Result: ~Copyable>(
        service: String, account: String, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(VaultError) -> Result {
        let name = try ItemName(service: service, account: account, operation: Self.finding, path: path)
        do throws(VaultError) {
            let (entry, contents) = try find(name)
            let wrap = try ItemWrap(vaultID: contents.head.header.vaultID, for: entry.accessibility)
            return try SecretPool.shared.withBytes(count: entry.valueSize) { output throws(VaultError) in
                try keys.withKeyBytes(entry.accessibility.protection) { key throws(VaultError) in
                    try wrap.open(entry, under: key, into: output, path: path)
                }
                note(.itemRead, subject: name.subject, outcome: .succeeded)
            } _: { value throws(VaultError) in
                body(value)
            }
        } catch {
            let isRefusal = [.locked, .itemNotFound, .wrongDevice].contains(error.code)
            if error.code.leavesTheLog {
                note(.itemRead, subject: name.subject, outcome: isRefusal ? .refused : .failed)
            }
            throw error
        }
    }

    /// Copies an item's value into secret memory of its own, which ends when the caller lets go of it.
    ///
    /// A copy: it outlives a lock of the vault. `withValue` lends the value without one.
    /// - Throws: `VaultError` as `withValue`.
    public func copyValue(service: String, account: String) throws(VaultError) -> SecretBytes {
        try withValue(service: service, account: account) { SecretBytes(copying: $0) }
    }

    private static let finding = "find an item of"

    private func find(_ name: ItemName) throws(VaultError) -> (entry: ItemEntry, contents: VaultContents) {
        let contents = try current()
        guard let entry = contents.body.items[name] else { throw .noItem(Self.finding, path) }
        return (entry, contents)
    }
}

extension VaultError.Code {
    /// Whether the access log beside the vault still is this vault's. The log of another one that took its place is not:
    /// an entry under the wrong key would look like tampering there.
    var leavesTheLog: Bool { self != .replaced && self != .absent }
}
