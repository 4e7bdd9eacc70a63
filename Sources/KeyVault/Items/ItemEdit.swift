internal import CryptoPrimitives

/// What shall change of an item; nil stays as it is.
struct ItemEdit: Sendable {
    let label: [UInt8]?
    let accessibility: Accessibility?
}

extension VaultDraft {
    /// Adds an item.
    ///
    /// - Throws: `VaultError` `.duplicateItem`, `.tooLarge`, `.locked`, `.noMachineIdentity`.
    mutating func add(_ item: CheckedItem, limits: ItemLimits) throws(VaultError) {
        // Asked before the key: a duplicate is one also while its class is locked.
        guard body.items[item.name] == nil else { throw .duplicateItem(place.path) }
        let entry = try entry(
            item.name, label: item.label, accessibility: item.accessibility, createdAt: now, value: item.value)
        try body.items.insert(entry, limits: limits, path: place.path)
    }

    /// A new item's entry, its value wrapped under the class key of its accessibility.
    ///
    /// - Throws: `VaultError` `.locked`, `.noMachineIdentity`.
    func entry(
        _ name: ItemName, label: some Collection<UInt8>, accessibility: Accessibility, createdAt: UInt64,
        value: UnsafeRawBufferPointer
    ) throws(VaultError) -> ItemEntry {
        let wrap = try ItemWrap(vaultID: vaultID, for: accessibility)
        return try keys.withKeyBytes(accessibility.protection) { key throws(VaultError) in
            wrap.entry(
                name, label: label, accessibility: accessibility, createdAt: createdAt, modifiedAt: now, value: value,
                under: key)
        }
    }

    /// An item's next entry. Where neither value nor accessibility changes, the wrapped value goes over as it is.
    ///
    /// - Throws: `VaultError` `.locked`, `.wrongDevice`, `.noMachineIdentity`, `.corrupt`.
    func entry(
        _ name: ItemName, replacing old: ItemEntry, _ edit: ItemEdit, value: UnsafeRawBufferPointer?
    ) throws(VaultError) -> ItemEntry {
        let label = edit.label ?? Array(old.label)
        let accessibility = edit.accessibility ?? old.accessibility
        func made(_ value: UnsafeRawBufferPointer) throws(VaultError) -> ItemEntry {
            try entry(name, label: label, accessibility: accessibility, createdAt: old.createdAt, value: value)
        }
        if let value { return try made(value) }
        guard accessibility != old.accessibility else {
            return ItemEntry(
                name, label: label, accessibility: accessibility, createdAt: old.createdAt, modifiedAt: now,
                device: old.device, wrappedValue: old.wrappedValue)
        }
        let wrap = try ItemWrap(vaultID: vaultID, for: old.accessibility)
        return try SecretPool.shared.withBytes(count: old.valueSize) { output throws(VaultError) in
            try keys.withKeyBytes(old.accessibility.protection) { key throws(VaultError) in
                try wrap.open(old, under: key, into: output, path: place.path)
            }
        } _: { value throws(VaultError) in
            try made(value)
        }
    }
}
