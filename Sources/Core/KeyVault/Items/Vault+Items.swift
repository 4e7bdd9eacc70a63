internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles

/// Generic passwords: small secrets by service and account, as `kSecClassGenericPassword` has them.
///
/// Every call checks the files first, so that it sees other programs' changes at once.
extension Vault {
    /// Adds an item.
    ///
    /// The value is sealed and copied into the vault; the caller wipes the original.
    /// - Parameters:
    ///   - service: The purpose of the value, such as a host's name; 1 to 1024 bytes of UTF-8 without NUL.
    ///   - account: The value's owner; as for the service. Both together name the item, compared byte by byte.
    ///   - label: A title for users, up to 1024 bytes; it may be empty.
    ///   - accessibility: The accessibility of the value; `nil` for `whenUnlocked` in a vault that only persons open,
    ///     else `afterFirstUnlock`.
    ///   - value: The secret, up to 1 MiB; any bytes, or none.
    /// - Throws: `VaultError` `.duplicateItem` if an item has that name; `.downgraded` if the name is *when unlocked*
    ///   and a service adds it in the lower class; `.invalidArgument`, `.tooLarge`; `.locked` if the accessibility's
    ///   key is not available; `.noMachineIdentity` if it needs a machine id and there is no such id; those of every
    ///   change.
    public func addItem(
        service: String, account: String, label: String = "", accessibility: Accessibility? = nil,
        value: UnsafeRawBufferPointer
    ) throws(VaultError) {
        try addItems([
            NewItem(
                service: service, account: account, label: label, accessibility: accessibility ?? defaultAccessibility,
                value: value)
        ])
    }

    /// The accessibility of items added without one.
    public var defaultAccessibility: Accessibility {
        defaultProtection == .whenUnlocked ? .whenUnlocked : .afterFirstUnlock
    }

    /// Adds items in one write of each compartment: all of a class or none of it.
    ///
    /// - Throws: `VaultError` as for one item.
    package func addItems(_ items: [NewItem], limits: ItemLimits = .standard) throws(VaultError) {
        var checked: [CheckedItem] = []
        for item in items { checked.append(try CheckedItem(item, limits: limits, path: path)) }
        let subject = checked.count == 1 ? checked.first?.name.subject : nil
        let isReachable = try keys.reachesPerson()
        let needsPerson = isReachable || checked.contains { $0.accessibility.protection == .whenUnlocked }
        // The name is removed from the list last, so that an item planted under it never appears.
        let mayLower = checked.contains { $0.accessibility.protection == .afterFirstUnlock }
        try changeItems(
            .itemAdded, subject, needsPerson: needsPerson, order: mayLower ? [.service, .person] : nil
        ) { edit throws(VaultError) in
            for item in checked { try edit.add(item, limits: limits) }
        }
    }

    /// Changes the given properties of an item and keeps those that are `nil`. `created` is kept, `modified` becomes
    /// now.
    ///
    /// A new label alone needs no key of the value's class in the service compartment. A new accessibility without a
    /// new value needs the keys of both, because the value is sealed again.
    /// - Throws: `VaultError` `.itemNotFound`; `.wrongDevice` if the value belongs to another machine and is not
    ///   replaced; `.downgraded`, `.invalidArgument`, `.tooLarge`, `.locked`; those of every change.
    public func updateItem(
        service: String, account: String, label: String? = nil, accessibility: Accessibility? = nil,
        value: UnsafeRawBufferPointer? = nil
    ) throws(VaultError) {
        try updateItem(
            service: service, account: account, label: label, accessibility: accessibility, value: value,
            limits: .standard)
    }

    /// Does the same with a test's own limits.
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
        let isListed = try isListed(name)
        let needsPerson = isListed || accessibility?.protection == .whenUnlocked
        let isLowering = needsPerson && accessibility?.protection == .afterFirstUnlock
        try changeItems(
            .itemUpdated, name.subject, needsPerson: needsPerson, order: isLowering ? [.service, .person] : nil
        ) { edit throws(VaultError) in
            try edit.update(name, label: label, accessibility: accessibility, value: value, limits: limits)
        }
    }

    /// Deletes an item. For an item of *when unlocked* the vault must be unlocked.
    ///
    /// A full disk does not prevent the deletion, which uses the space reserved for it. Neither does an access log that
    /// cannot be written.
    /// - Returns: Whether the access log has an entry for the deletion.
    /// - Throws: `VaultError` `.itemNotFound`, `.locked`, `.invalidArgument`; those of every change but `.logFailed`.
    @discardableResult
    public func deleteItem(service: String, account: String) throws(VaultError) -> ItemDeletion {
        let operation = "delete an item of"
        let name = try ItemName(service: service, account: account, operation: operation, path: path)
        let needsPerson = try isListed(name)
        let isLogged = try changeItems(
            .itemDeleted, name.subject, needsPerson: needsPerson
        ) { edit throws(VaultError) in try edit.remove(name) }
        return ItemDeletion(isLogged: isLogged)
    }

    private func isListed(_ name: ItemName) throws(VaultError) -> Bool {
        try current().lists(name)
    }

    @discardableResult
    private func changeItems(
        _ event: AccessEvent, _ subject: [UInt8]?, needsPerson: Bool, order: [CompartmentRole]? = nil,
        _ edit: (inout ItemEdit) throws(VaultError) -> Void
    ) throws(VaultError) -> Bool {
        let directory = directory
        let (kept, isLogged) = try changeReportingLog(
            event, subject: subject, needsPerson: needsPerson, order: order ?? [.person, .service]
        ) { draft throws(VaultError) -> [(CompartmentRole, [ItemEntry])] in
            var items = ItemEdit(draft, directory: directory)
            try edit(&items)
            // Written durably before an index names them; after a failure a later sweep removes them.
            try items.writeFiles()
            draft = items.draft
            return items.sweeps()
        }
        // The change is complete. After a failure the next change removes the files.
        try? sweep(kept)
        // Reserve again: the replaced files are closed now, which may have freed the space.
        reserve.keep()
        return isLogged
    }

    /// Removes the value files that no index names any longer.
    ///
    /// The lock of the change has been released, so this takes it again. It keeps the files of two indexes: the one
    /// that the change wrote durably, and the present one.
    func sweep(_ written: [(CompartmentRole, [ItemEntry])]) throws(VaultError) {
        // Rarely true, and cheaper than taking the lock and reading the vault again.
        let due = written.filter { role, entries in
            !ValueFiles(directory: directory, role: role).leftovers(keeping: entries).isEmpty
        }
        guard !due.isEmpty else { return }
        let lock = try lockForChange()
        let contents = try reload()
        for (role, entries) in due {
            guard let current = try? allEntries(of: role, in: contents) else { continue }
            ValueFiles(directory: directory, role: role).sweep(keeping: entries + current, under: lock)
        }
    }

    private func allEntries(
        of role: CompartmentRole, in contents: VaultContents
    ) throws(VaultError) -> [ItemEntry] {
        guard role == .person else { return try entries(contents.service, root: keys.service, nil) }
        return try keys.withPerson { root throws(VaultError) in
            try entries(contents.person(root, place: place), root: root, nil)
        }
    }
}

// MARK: Reading

extension Vault {
    /// Returns the metadata of one item. Reads no value and writes no access log entry.
    ///
    /// - Throws: `VaultError` `.itemNotFound`; `.locked` for an item of *when unlocked* while the vault is locked;
    ///   `.invalidArgument`; those of every look at the vault, such as `.missing` or `.corrupt`.
    public func item(service: String, account: String) throws(VaultError) -> VaultItem {
        let name = try ItemName(service: service, account: account, operation: Self.finding, path: path)
        return try withEntry(name) { entry, _, _ in VaultItem(entry) }
    }

    /// Returns all items, or one service's, sorted by service and account byte by byte. Reads no value. Items of *when
    /// unlocked* are omitted while the vault is locked; `lockedNameCount()` returns the number of such names.
    ///
    /// - Parameter service: The service to list; `nil` for all.
    /// - Throws: `VaultError`, those of every look at the vault.
    public func items(service: String? = nil) throws(VaultError) -> [VaultItem] {
        let contents = try current()
        var found: [ItemEntry] = []
        for entry in try entries(contents.service, root: keys.service, service) {
            // Only the person compartment has an item under a listed name.
            let name = try ItemName(entry, path: path)
            if !contents.lists(name) { found.append(entry) }
        }
        if contents.personFile != nil, try keys.reachesPerson() {
            found += try keys.withPerson { root throws(VaultError) in
                try entries(contents.person(root, place: place), root: root, service)
            }
            found.sort { $0.order($1) < 0 }
        }
        return found.map(VaultItem.init)
    }

    /// Returns the items of *after first unlock* under names that are *when unlocked*. Only a service can have planted
    /// them. No program reads them, and the next change of the person's item removes them.
    ///
    /// - Throws: `VaultError`, those of every look at the vault.
    public func plantedItems() throws(VaultError) -> [VaultItem] {
        let contents = try current()
        var found: [VaultItem] = []
        for entry in try entries(contents.service, root: keys.service, nil)
        where contents.lists(try ItemName(entry, path: path)) { found.append(VaultItem(entry)) }
        return found
    }

    /// Returns the number of names of *when unlocked* that are not accessible: items and records.
    ///
    /// - Throws: `VaultError`, those of every look at the vault.
    public func lockedNameCount() throws(VaultError) -> Int {
        let contents = try current()
        return try keys.reachesPerson() ? 0 : contents.names.tags.count
    }

    private func entries(
        _ contents: CompartmentContents, root: RootKey, _ service: String?
    ) throws(VaultError) -> [ItemEntry] {
        let table = try contents.items(root: root, place: place)
        guard let service else { return table.entries }
        return Array(table.entries(ofService: Array(service.utf8)))
    }

    /// Lends an item's value for the length of a call: in guarded memory, wiped when `body` returns.
    ///
    /// Nothing is copied; the pointer must not outlive the call and may have any alignment. The access log records the
    /// reading before `body` gets the value; a log that cannot be written does not withhold it.
    /// - Parameters:
    ///   - service: The item's service.
    ///   - account: The item's account.
    ///   - body: Reads the value. It may throw a `VaultError`, which is rethrown unchanged; for errors of other types
    ///     there is a second form.
    /// - Throws: `VaultError` `.itemNotFound`; `.locked` if the class of its accessibility is locked; `.wrongDevice`
    ///   for a value that belongs to another machine, `.noMachineIdentity` if this one has no id; `.corrupt` for a
    ///   value that does not match its entry; `.invalidArgument`; those of every look at the vault.
    public func withValue<Result: ~Copyable>(
        service: String, account: String, _ body: (UnsafeRawBufferPointer) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        try lendValue(service: service, account: account, body).get()
    }

    /// Lends an item's value to a closure that throws errors of the program; otherwise as the form above.
    ///
    /// - Throws: The error of `body`, unchanged; `VaultError` as the form above; then `body` did not run, unless it
    ///   threw that error.
    public func withValue<Result: ~Copyable, Failure: Error>(
        service: String, account: String, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws -> Result {
        try lendValue(service: service, account: account, body).get()
    }

    /// Lends a value, and returns the result or the error of `body`. An error of `body` never counts as a failed
    /// reading: the value is not read again, and the access log has one entry.
    func lendValue<Value: ~Copyable, Failure: Error>(
        service: String, account: String, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(VaultError) -> Result<Value, Failure> {
        let name = try ItemName(service: service, account: account, operation: Self.finding, path: path)
        do throws(VaultError) {
            return try withCurrentValue(name) { value in Result { () throws(Failure) in try body(value) } }
        } catch {
            let isRefusal = [.locked, .itemNotFound, .wrongDevice].contains(error.code)
            if error.code.leavesTheLog {
                note(.itemRead, subject: name.subject, outcome: isRefusal ? .refused : .failed)
            }
            throw error
        }
    }

    /// Lends a value. Between reading the index and reading the value file, a writer may replace the value and remove
    /// the old file; then the new value is read.
    private func withCurrentValue<Result: ~Copyable>(
        _ name: ItemName, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(VaultError) -> Result {
        var attempts = 0
        while true {
            var seen: [UInt8]?
            do throws(VaultError) {
                return try withEntry(name) { entry, contents, root throws(VaultError) in
                    let values = ItemValues(vaultID: contents.head.vaultID, path: place.path(of: contents.role))
                    let files = ValueFiles(directory: directory, role: contents.role)
                    if !entry.isInline { seen = Array(entry.valueID) }
                    let file = entry.isInline ? nil : try files.read(entry)
                    return try SecretPool.shared.withBytes(count: entry.valueSize) { output throws(VaultError) in
                        try values.open(entry, file: file, root: root, into: output)
                        note(.itemRead, subject: name.subject, outcome: .succeeded)
                    } _: { value throws(VaultError) in
                        body(value)
                    }
                }
            } catch {
                guard error.code == .corrupt, let seen, attempts < Self.maximumRereads, isReplaced(name, seen) else {
                    throw error
                }
                attempts += 1
            }
        }
    }

    /// Returns whether the item now has another value than the one of that id, or is not accessible.
    private func isReplaced(_ name: ItemName, _ valueID: [UInt8]) -> Bool {
        let isSame = try? withEntry(name) { entry, _, _ in entry.valueID.elementsEqual(valueID) }
        return isSame != true
    }

    /// Copies an item's value into its own secret memory, which the caller owns.
    ///
    /// The copy remains after the vault is locked. `withValue` lends the value without a copy.
    /// - Throws: `VaultError` as `withValue`.
    public func copyValue(service: String, account: String) throws(VaultError) -> SecretBytes {
        try withValue(service: service, account: account) { SecretBytes(copying: $0) }
    }

    private static let finding = "find an item of"

    /// Finds an item. A listed name is looked up only in the person compartment, so that an item planted under it in
    /// the other one is never read.
    private func withEntry<Result: ~Copyable>(
        _ name: ItemName,
        _ body: (ItemEntry, CompartmentContents, RootKey) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        let contents = try current()
        func found(_ compartment: CompartmentContents, _ root: RootKey) throws(VaultError) -> Result {
            guard let entry = try compartment.items(root: root, place: place)[name] else {
                throw .noItem(Self.finding, path)
            }
            return try body(entry, compartment, root)
        }
        guard contents.lists(name) else {
            do throws(VaultError) { return try found(contents.service, keys.service) } catch {
                // The item may be in the compartment that is missing or damaged.
                if error.code == .itemNotFound, let failure = contents.personFailure { throw failure }
                throw error
            }
        }
        return try keys.withPerson { root throws(VaultError) in
            try found(try contents.person(root, place: place), root)
        }
    }
}

/// The result of deleting an item.
public struct ItemDeletion: Sendable, Hashable {
    /// `true` if the access log has an entry for it. A log that cannot be written, or is off, does not prevent a
    /// deletion.
    public let isLogged: Bool
}

extension VaultContents {
    /// Returns whether a name is *when unlocked*.
    fileprivate func lists(_ name: ItemName) -> Bool { names.contains(tagger.tag(name)) }
}

extension VaultError {
    static func needsUnlock(_ path: String) -> VaultError {
        VaultError(
            .locked, "use the vault", path, "It is locked: the class \"when unlocked\" needs its user.",
            advice: "Unlock it: sealctl vault unlock.")
    }
}

extension VaultError.Code {
    /// `true` if the access log beside the vault is still this vault's. In the log of a vault that took its place, an
    /// entry under the wrong key would look like tampering.
    var leavesTheLog: Bool { self != .replaced && self != .absent && self != .missing }
}
