internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles

/// A vault, or a backup of one, that keys and values are taken from or put into.
struct WrappingSide {
    let vaultID: [UInt8]
    let keys: ClassKeys
    /// Where a lock by its user shows.
    let directory: Directory
    let place: VaultPlace
    /// Where it is a backup: what its failures are told of.
    var backupPath: String?

    fileprivate func step<Result: ~Copyable>(
        _ body: () throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        do throws(VaultError) { return try body() } catch {
            throw backupPath.map { error.ofBackup($0) } ?? error
        }
    }
}

/// Carries sealing keys and item values from under one vault's class keys to under another's, one at a time, through
/// secret memory: at no moment is more than one of them unwrapped.
struct Rewrapping {
    let source: WrappingSide
    let target: WrappingSide

    /// A key's entry for the target: same id, epoch, class and date.
    ///
    /// - Parameter state: Its state there; nil for the same. A destroyed key stays so: there is nothing to carry.
    /// - Throws: `VaultError` `.locked`, `.corrupt`.
    func key(_ entry: KeyringEntry, as state: KeyState? = nil) throws(VaultError) -> KeyringEntry {
        guard entry.state != .destroyed else { return entry }
        let key = try source.step { () throws(VaultError) in
            try KeyringReader(place: source.place, vaultID: source.vaultID).unwrap(entry, keys: source.keys)
        }
        let secret = key.withUnsafeBytes { SecretBytes(copying: $0) }
        return try KeyringReader(place: target.place, vaultID: target.vaultID).entry(
            for: secret, epoch: entry.epoch, state: state ?? entry.state, protection: entry.protection,
            createdAt: entry.createdAt, keys: target.keys)
    }

    /// An item's entry for the target: only the wrapping of its value is another.
    ///
    /// - Precondition: The item may leave its machine.
    /// - Throws: `VaultError` `.locked`, `.corrupt`.
    func item(_ entry: ItemEntry) throws(VaultError) -> ItemEntry {
        precondition(!entry.accessibility.isThisDeviceOnly, "an item that is bound to its machine is never carried on")
        let name = try ItemName(entry, path: target.place.path)
        let protection = entry.accessibility.protection
        let (from, to) = (
            ItemWrap(vaultID: source.vaultID, device: []), ItemWrap(vaultID: target.vaultID, device: [])
        )
        return try SecretPool.shared.withBytes(count: entry.valueSize) { output throws(VaultError) in
            try source.step { () throws(VaultError) in
                try source.keys.withKeyBytes(protection) { key throws(VaultError) in
                    try from.open(entry, under: key, into: output, path: source.place.path)
                }
            }
        } _: { value throws(VaultError) in
            try target.keys.withKeyBytes(protection) { key throws(VaultError) in
                to.entry(
                    name, label: entry.label, accessibility: entry.accessibility, createdAt: entry.createdAt,
                    modifiedAt: entry.modifiedAt, value: value, under: key)
            }
        }
    }
}

extension ItemName {
    /// The name of an item that is in a table, and so was found to be text.
    init(_ entry: ItemEntry, path: String) throws(VaultError) {
        try self.init(
            service: String(decoding: entry.service, as: UTF8.self),
            account: String(decoding: entry.account, as: UTF8.self), operation: "carry an item from", path: path)
    }
}
