internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles

/// Generic passwords: small secrets by service and account, as `kSecClassGenericPassword` has them.
///
/// Every call looks at the files first, so that another program's change is seen at once.
extension Vault {
    /// Adds an item.
    ///
    /// The value is copied into the vault, sealed; wiping the original stays the caller's duty.
    /// - Parameters:
    ///   - service: The purpose of the value, such as a host's name; 1 to 1024 bytes of UTF-8 without NUL.
    ///   - account: The value's owner; as for the service. Both together name the item, compared byte by byte.
    ///   - label: A title for people, up to 1024 bytes; it may be empty.
    ///   - accessibility: When the value can be read; nil for `whenUnlocked` in a vault that only persons open, else
    ///     `afterFirstUnlock`.
    ///   - value: The secret, up to 1 MiB; any bytes, or none.
    /// - Throws: `VaultError` `.duplicateItem` where there is one of that name; `.downgraded` where the name is *when
    ///   unlocked* and a service adds it in the lower class; `.invalidArgument`, `.tooLarge`; `.locked` where the
    ///   accessibility's key is not at hand; `.noMachineIdentity` where it asks for a machine's id and there is none;
    ///   those of every change.
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

    /// The accessibility of items that are added without one.
    public var defaultAccessibility: Accessibility {
        defaultProtection == .whenUnlocked ? .whenUnlocked : .afterFirstUnlock
    }

    /// The class of items and records that state none: *when unlocked* where only persons open the vault.
    package var defaultProtection: ProtectionClass {
        guard let register = heldContents.register, register.person != nil else { return .afterFirstUnlock }
        return register.slots.contains { $0.reach == .afterFirstUnlock } ? .afterFirstUnlock : .whenUnlocked
    }

    /// Adds items in one write of each compartment: all of a class, or none.
    ///
    /// - Throws: `VaultError` as for one item.
    package func addItems(_ items: [NewItem], limits: ItemLimits = .standard) throws(VaultError) {
        var checked: [CheckedItem] = []
        for item in items { checked.append(try CheckedItem(item, limits: limits, path: path)) }
        let subject = checked.count == 1 ? checked.first?.name.subject : nil
        let isReachable = try keys.reachesPerson()
        let needsPerson = isReachable || checked.contains { $0.accessibility.protection == .whenUnlocked }
        // A name that leaves the list leaves it last: nothing planted under it is ever shown as an item.
        let mayLower = checked.contains { $0.accessibility.protection == .afterFirstUnlock }
        try changeItems(
            .itemAdded, subject, needsPerson: needsPerson, order: mayLower ? [.service, .person] : nil
        ) { edit throws(VaultError) in
            for item in checked { try edit.add(item, limits: limits) }
        }
    }

    /// Changes what is given of an item; a nil stays. `created` stays, `modified` becomes now.
    ///
    /// A new label alone needs no key of the value's class in the service compartment. A new accessibility without a new
    /// value needs the keys of both: the value is sealed again.
    /// - Throws: `VaultError` `.itemNotFound`; `.wrongDevice` where the value belongs to another machine and is not
    ///   replaced; `.downgraded`, `.invalidArgument`, `.tooLarge`, `.locked`; those of every change.
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
        let isListed = try isListed(name)
        let needsPerson = isListed || accessibility?.protection == .whenUnlocked
        let isLowering = needsPerson && accessibility?.protection == .afterFirstUnlock
        try changeItems(
            .itemUpdated, name.subject, needsPerson: needsPerson, order: isLowering ? [.service, .person] : nil
        ) { edit throws(VaultError) in
            try edit.update(name, label: label, accessibility: accessibility, value: value, limits: limits)
        }
    }

    /// Deletes an item. One that is *when unlocked* needs the vault unlocked.
    ///
    /// A full disk does not keep it from being deleted: the deletion takes the space that is reserved for it. Nor does an
    /// access log that cannot be written.
    /// - Returns: Whether the deletion is in the access log.
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
        let (kept, isLogged) = try changeSayingLogged(
            event, subject: subject, needsPerson: needsPerson, order: order ?? [.person, .service]
        ) { draft throws(VaultError) -> [(CompartmentRole, [ItemEntry])] in
            var items = ItemEdit(draft, directory: directory)
            try edit(&items)
            // On the disk before an index names them; what is left over after a failure is swept later.
            try items.writeFiles()
            draft = items.draft
            return items.sweeps()
        }
        // The change is made: a failure leaves the files to the next one.
        try? sweep(kept)
        // Again: what was replaced is closed by now, and may have left the room for it.
        reserve.keep()
        return isLogged
    }

    /// Removes the value files that no index names any more.
    ///
    /// The lock of the change has been released, so this takes it again, and keeps the files of two indexes: the one
    /// that the change wrote durably, and the one that is there now.
    func sweep(_ written: [(CompartmentRole, [ItemEntry])]) throws(VaultError) {
        // Seldom true, and cheaper to ask than the lock and another look at the vault.
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
    /// The metadata of one item. Its value is not touched, and the access log is not written.
    ///
    /// - Throws: `VaultError` `.itemNotFound`; `.locked` for one that is *when unlocked* while the vault is locked;
    ///   `.invalidArgument`; those of every look at the vault, such as `.missing` or `.corrupt`.
    public func item(service: String, account: String) throws(VaultError) -> VaultItem {
        let name = try ItemName(service: service, account: account, operation: Self.finding, path: path)
        return try withEntry(name) { entry, _, _ in VaultItem(entry) }
    }

    /// All items, or one service's, sorted by service and account byte by byte. No value is touched. Items that are *when
    /// unlocked* are left out while the vault is locked; `lockedItemCount()` says how many names there are.
    ///
    /// - Parameter service: The service to list; nil for all.
    /// - Throws: `VaultError`, those of every look at the vault.
    public func items(service: String? = nil) throws(VaultError) -> [VaultItem] {
        let contents = try current()
        var found: [ItemEntry] = []
        for entry in try entries(contents.service, root: keys.service, service) {
            // Under a listed name only the person compartment has an item.
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

    /// The items of *after first unlock* under names that are *when unlocked*. Only a service can have planted them: none is
    /// read, and the next change of the person's item removes it.
    ///
    /// - Throws: `VaultError`, those of every look at the vault.
    public func plantedItems() throws(VaultError) -> [VaultItem] {
        let contents = try current()
        var found: [VaultItem] = []
        for entry in try entries(contents.service, root: keys.service, nil)
        where contents.lists(try ItemName(entry, path: path)) { found.append(VaultItem(entry)) }
        return found
    }

    /// The number of names that are *when unlocked* and out of reach: items and records.
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
            return try withCurrentValue(name, body)
        } catch {
            let isRefusal = [.locked, .itemNotFound, .wrongDevice].contains(error.code)
            if error.code.leavesTheLog {
                note(.itemRead, subject: name.subject, outcome: isRefusal ? .refused : .failed)
            }
            throw error
        }
    }

    /// How often a value is read again that was replaced while it was read.
    private static var maximumRereads: Int { 16 }

    /// Lends a value. A writer may replace it, and remove the old value file, between the looks at the index and at
    /// that file; then the new one is read.
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

    /// Whether the item has another value than the one of that id, or is out of reach meanwhile.
    private func isReplaced(_ name: ItemName, _ valueID: [UInt8]) -> Bool {
        let isSame = try? withEntry(name) { entry, _, _ in entry.valueID.elementsEqual(valueID) }
        return isSame != true
    }

    /// Copies an item's value into secret memory of its own, which ends when the caller lets go of it.
    ///
    /// A copy: it outlives a lock of the vault. `withValue` lends the value without one.
    /// - Throws: `VaultError` as `withValue`.
    public func copyValue(service: String, account: String) throws(VaultError) -> SecretBytes {
        try withValue(service: service, account: account) { SecretBytes(copying: $0) }
    }

    private static let finding = "find an item of"

    /// Finds an item: a listed name is looked for in the person compartment alone, so that nothing planted under it in the
    /// other one is ever read.
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
                // It may be in the compartment that is gone or damaged.
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
    /// Whether the access log has an entry for it. A log that cannot be written, or is off, keeps nothing from being deleted.
    public let isLogged: Bool
}

extension VaultContents {
    /// Whether a name is *when unlocked*.
    fileprivate func lists(_ name: ItemName) -> Bool { names.contains(tagger.tag(name)) }
}

extension VaultError {
    static func needsUnlock(_ path: String) -> VaultError {
        VaultError(
            .locked, "use the vault", path, "It is locked: what is protected \"when unlocked\" needs its user.",
            advice: "Unlock it: sealctl vault unlock.")
    }
}

extension VaultError.Code {
    /// Whether the access log beside the vault still is this vault's. The log of another one that took its place is not:
    /// an entry under the wrong key would look like tampering there.
    var leavesTheLog: Bool { self != .replaced && self != .absent && self != .missing }
}
