internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles

/// Changes of items in a draft, and their value files.
struct ItemEdit {
    var draft: VaultDraft
    private let directory: Directory
    private var files: [(CompartmentRole, String, [UInt8])] = []
    private var touched: Set<CompartmentRole> = []

    init(_ draft: VaultDraft, directory: Directory) {
        self.draft = draft
        self.directory = directory
    }

    private func values(_ role: CompartmentRole) -> ItemValues {
        ItemValues(vaultID: draft.vaultID, path: draft.place.path(of: role))
    }

    /// - Throws: `VaultError` `.duplicateItem`, `.downgraded`, `.tooLarge`, `.locked`, `.noMachineIdentity`.
    mutating func add(_ item: CheckedItem, limits: ItemLimits) throws(VaultError) {
        let tag = draft.tagger.tag(item.name)
        let protection = item.accessibility.protection
        if draft.names.contains(tag) {
            if protection == .afterFirstUnlock { try requirePersonToLower() }
            guard try table(.whenUnlocked)[item.name] == nil else { throw .duplicateItem(draft.place.path) }
            removePlanted(item.name)
            if protection == .afterFirstUnlock { draft.names.remove(tag) }
        } else {
            // Checked before the key is loaded: a duplicate counts even while its class is locked.
            for protection in ProtectionClass.allCases {
                // An unreadable item in a damaged `vault` is replaced by the person's, as a planted one is.
                let isOutOfReach = protection == .afterFirstUnlock && draft.serviceFailure != nil
                guard !isOutOfReach, protection == .afterFirstUnlock || draft.person != nil else { continue }
                guard try table(protection)[item.name] == nil else { throw .duplicateItem(draft.place.path) }
            }
        }
        var compartment = try draft.compartment(protection)
        let sealed = try values(compartment.role).seal(
            item.value, item.name, label: item.label, accessibility: item.accessibility, createdAt: draft.now,
            modifiedAt: draft.now, root: compartment.root)
        var table = try compartment.loadItems(draft.place)
        try table.insert(sealed.entry, limits: limits, path: draft.place.path)
        compartment.items = table
        take(sealed, compartment, item.name)
    }

    /// Allows a person, but no service, to state the lower class for a name, which ends its protection.
    private func requirePersonToLower() throws(VaultError) {
        guard draft.person == nil else { return }
        throw VaultError(
            .downgraded, "add an item to", draft.place.path,
            "Its name is protected \"when unlocked\", and only a person may lower its class.",
            advice: "Unlock the vault, or choose another account.")
    }

    /// Removes an entry of a listed name from the service compartment, where only a service can have planted it.
    ///
    /// An unreadable index stays as it is: it must not block a change of a person's item.
    private mutating func removePlanted(_ name: ItemName) {
        var service = draft.service
        guard var table = try? service.loadItems(draft.place), table[name] != nil,
            (try? table.remove(name, path: draft.place.path)) != nil
        else { return }
        service.items = table
        touched.insert(.service)
        draft.set(service)
    }

    private mutating func take(_ sealed: ItemValues.Sealed, _ compartment: CompartmentDraft, _ name: ItemName) {
        if let file = sealed.file { files.append((compartment.role, sealed.entry.valueFileName, file)) }
        touched.insert(compartment.role)
        draft.set(compartment)
        guard compartment.role == .person else { return }
        _ = draft.names.insert(draft.tagger.tag(name))
        removePlanted(name)
    }

    /// - Throws: `VaultError` `.itemNotFound`, `.downgraded`, `.tooLarge`, `.locked`, `.wrongDevice`,
    ///   `.noMachineIdentity`, `.corrupt`.
    mutating func update(
        _ name: ItemName, label: [UInt8]?, accessibility: Accessibility?, value: UnsafeRawBufferPointer?,
        limits: ItemLimits
    ) throws(VaultError) {
        let from = protection(of: name)
        let source = try draft.compartment(from)
        guard let old = try table(from)[name] else { throw .noItem("update an item of", draft.place.path) }
        let new = accessibility ?? old.accessibility
        guard value != nil || new != old.accessibility else {
            var fields = old.fields(name)
            fields.label = label ?? fields.label
            fields.modifiedAt = draft.now
            return try replace(ItemValues.Sealed(entry: ItemEntry(fields), file: nil), name, in: from, limits)
        }
        let target = try draft.compartment(new.protection)
        func sealed(_ value: UnsafeRawBufferPointer) throws(VaultError) -> ItemValues.Sealed {
            try values(target.role).seal(
                value, name, label: label ?? Array(old.label), accessibility: new, createdAt: old.createdAt,
                modifiedAt: draft.now, root: target.root)
        }
        let made: ItemValues.Sealed
        if let value { made = try sealed(value) } else { made = try withValue(of: old, source, sealed) }
        guard from != new.protection else { return try replace(made, name, in: from, limits) }
        try move(made, name, from: from, to: new.protection, limits)
    }

    private func withValue<Result>(
        of entry: ItemEntry, _ source: CompartmentDraft,
        _ body: (UnsafeRawBufferPointer) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        let file = entry.isInline ? nil : try ValueFiles(directory: directory, role: source.role).read(entry)
        return try SecretPool.shared.withBytes(count: entry.valueSize) { output throws(VaultError) in
            try values(source.role).open(entry, file: file, root: source.root, into: output)
        } _: { value throws(VaultError) in
            try body(value)
        }
    }

    private mutating func replace(
        _ sealed: ItemValues.Sealed, _ name: ItemName, in protection: ProtectionClass, _ limits: ItemLimits
    ) throws(VaultError) {
        var compartment = try draft.compartment(protection)
        var table = try compartment.loadItems(draft.place)
        try table.replace(with: sealed.entry, limits: limits, path: draft.place.path)
        compartment.items = table
        take(sealed, compartment, name)
    }

    /// Moves an item to the other class. A person states it, so the name moves too.
    private mutating func move(
        _ sealed: ItemValues.Sealed, _ name: ItemName, from: ProtectionClass, to: ProtectionClass, _ limits: ItemLimits
    ) throws(VaultError) {
        try remove(name, from: from)
        var target = try draft.compartment(to)
        var table = try target.loadItems(draft.place)
        // Replace a planted item of the same name.
        if table[name] != nil { try table.remove(name, path: draft.place.path) }
        try table.insert(sealed.entry, limits: limits, path: draft.place.path)
        target.items = table
        if to == .afterFirstUnlock { draft.names.remove(draft.tagger.tag(name)) }
        take(sealed, target, name)
    }

    /// - Throws: `VaultError` `.itemNotFound`, `.locked`.
    mutating func remove(_ name: ItemName) throws(VaultError) {
        let protection = protection(of: name)
        try remove(name, from: protection)
        if protection == .whenUnlocked { removePlanted(name) }
    }

    private mutating func remove(_ name: ItemName, from protection: ProtectionClass) throws(VaultError) {
        var compartment = try draft.compartment(protection)
        var table = try compartment.loadItems(draft.place)
        try table.remove(name, path: draft.place.path)
        compartment.items = table
        touched.insert(compartment.role)
        draft.set(compartment)
    }

    /// Returns the class of a name: a listed name belongs to the person compartment.
    private func protection(of name: ItemName) -> ProtectionClass {
        draft.names.contains(draft.tagger.tag(name)) ? .whenUnlocked : .afterFirstUnlock
    }

    private func table(_ protection: ProtectionClass) throws(VaultError) -> ItemTable {
        var compartment = try draft.compartment(protection)
        return try compartment.loadItems(draft.place)
    }

    /// Returns whether the name is *when unlocked*.
    func isListed(_ name: ItemName) -> Bool { protection(of: name) == .whenUnlocked }

    /// Returns whether there is an item of that name.
    func holds(_ name: ItemName) throws(VaultError) -> Bool {
        let protection = protection(of: name)
        guard protection == .afterFirstUnlock || draft.person != nil else { throw .needsUnlock(draft.place.path) }
        return try table(protection)[name] != nil
    }

    /// Adds a sealed item, or replaces the one of that name. The caller is a person.
    mutating func put(_ sealed: ItemValues.Sealed, _ name: ItemName) throws(VaultError) {
        if try holds(name) { try remove(name) }
        let protection = sealed.entry.accessibility.protection
        guard protection == .whenUnlocked || !isListed(name) else { return }
        var target = try draft.compartment(protection)
        var table = try target.loadItems(draft.place)
        try table.insert(sealed.entry, path: draft.place.path)
        target.items = table
        take(sealed, target, name)
    }

    func writeFiles() throws(VaultError) {
        for role in CompartmentRole.allCases {
            try ValueFiles(directory: directory, role: role)
                .write(files.filter { $0.0 == role }.map { ($0.1, $0.2) })
        }
    }

    /// Returns the entries of each changed compartment. After the change, value files that neither they nor a later
    /// index name are removed.
    func sweeps() -> [(CompartmentRole, [ItemEntry])] {
        touched.compactMap { role in
            let compartment = role == .person ? draft.person : draft.service
            return compartment?.items.map { (role, $0.entries) }
        }
    }
}

/// An item to add; its value remains the caller's memory, valid for the length of the call.
package struct NewItem {
    package let service: String
    package let account: String
    package let label: String
    package let accessibility: Accessibility
    package let value: UnsafeRawBufferPointer

    package init(
        service: String, account: String, label: String = "", accessibility: Accessibility,
        value: UnsafeRawBufferPointer
    ) {
        self.service = service
        self.account = account
        self.label = label
        self.accessibility = accessibility
        self.value = value
    }
}

/// A new item whose texts and value are within their limits: everything that can be checked before the vault's lock is
/// taken.
struct CheckedItem {
    private static let operation = "add an item to"

    let name: ItemName
    let label: [UInt8]
    let accessibility: Accessibility
    let value: UnsafeRawBufferPointer

    /// - Throws: `VaultError` `.invalidArgument`, `.tooLarge`.
    init(_ item: NewItem, limits: ItemLimits, path: String) throws(VaultError) {
        name = try ItemName(service: item.service, account: item.account, operation: Self.operation, path: path)
        label = try ItemName.checked(item.label, "label", Self.operation, path, mayBeEmpty: true)
        accessibility = item.accessibility
        value = item.value
        try limits.require(value, Self.operation, path)
    }
}
