internal import CryptoPrimitives

/// Generic passwords: small secrets by service and account, as `kSecClassGenericPassword` has them.
extension Vault {
    /// Adds an item.
    ///
    /// The value is copied into the vault's file, wrapped; wiping the original stays the caller's duty.
    /// - Parameters:
    ///   - service: What the value is for, such as a host's name; 1 to 1024 bytes of UTF-8 without NUL.
    ///   - account: Whose value it is; as for the service. Both together name the item, compared byte by byte.
    ///   - label: A title for people, up to 1024 bytes; it may be empty.
    ///   - accessibility: When the value can be read.
    ///   - value: The secret, up to 1 MiB; any bytes, or none.
    /// - Throws: `VaultError` `.duplicateItem` where there is one of that name; `.invalidArgument`, `.tooLarge`;
    ///   `.locked` where the accessibility's key is not at hand; `.noMachineIdentity` where it asks for a machine's id
    ///   and there is none; those of every change.
    public func addItem(
        service: String, account: String, label: String = "", accessibility: Accessibility = .afterFirstUnlock,
        value: UnsafeRawBufferPointer
    ) throws(VaultError) {
        try addItems([
            NewItem(service: service, account: account, label: label, accessibility: accessibility, value: value)
        ])
    }

    /// Adds items in one write: all of them, or none.
    ///
    /// - Throws: `VaultError` as for one item.
    package func addItems(_ items: [NewItem], limits: ItemLimits = .standard) throws(VaultError) {
        var checked: [CheckedItem] = []
        for item in items { checked.append(try CheckedItem(item, limits: limits, path: path)) }
        let subject = checked.count == 1 ? checked.first?.name.subject : nil
        try change(.itemAdded, subject: subject) { draft throws(VaultError) in
            for item in checked { try draft.add(item, limits: limits) }
        }
    }

    /// Changes what is given of an item; what is nil stays. `created` stays, `modified` becomes now.
    ///
    /// A new label alone needs no key of the value's class. A new accessibility without a new value needs the keys of
    /// both: the value is wrapped anew.
    /// - Throws: `VaultError` `.itemNotFound`; `.wrongDevice` where the value belongs to another machine and is not
    ///   replaced; `.invalidArgument`, `.tooLarge`, `.locked`; those of every change.
    public func updateItem(
        service: String, account: String, label: String? = nil, accessibility: Accessibility? = nil,
        value: UnsafeRawBufferPointer? = nil
    ) throws(VaultError) {
        try updateItem(
            service: service, account: account, label: label, accessibility: accessibility, value: value,
            limits: .standard)
    }

    /// The same with limits of a test's own.
    package func updateItem(
        service: String, account: String, label: String?, accessibility: Accessibility?,
        value: UnsafeRawBufferPointer?, limits: ItemLimits
    ) throws(VaultError) {
        let operation = "update an item of"
        let name = try ItemName(service: service, account: account, operation: operation, path: path)
        let label = try label.map { text throws(VaultError) in
            try ItemName.checked(text, "label", operation, path, mayBeEmpty: true)
        }
        if let value { try limits.require(value, operation, path) }
        let edit = ItemEdit(label: label, accessibility: accessibility)
        try change(.itemUpdated, subject: name.subject) { draft throws(VaultError) in
            guard let old = draft.body.items[name] else { throw .noItem(operation, path) }
            let entry = try draft.entry(name, replacing: old, edit, value: value)
            try draft.body.items.replace(with: entry, limits: limits, path: path)
        }
    }

    /// Deletes an item, whatever its accessibility; also while its class is locked.
    ///
    /// - Throws: `VaultError` `.itemNotFound`, `.invalidArgument`; those of every change.
    public func deleteItem(service: String, account: String) throws(VaultError) {
        let operation = "delete an item of"
        let name = try ItemName(service: service, account: account, operation: operation, path: path)
        try change(.itemDeleted, subject: name.subject) { draft throws(VaultError) in
            try draft.body.items.remove(name, path: path)
        }
    }
}
