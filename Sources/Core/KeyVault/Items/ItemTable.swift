/// A vault's items, sorted by service and account byte by byte (`docs/spec/vault.md`, section "Items").
///
/// A value type. Reading a table checks every entry once and copies none, so later accesses need no checks.
struct ItemTable: Hashable, Sendable {
    static let empty = ItemTable()

    /// In order and without duplicate names.
    private(set) var entries: [ItemEntry] = []
    /// The size of `encoded`.
    private(set) var encodedSize = 0
    /// The total size of all values, unwrapped.
    private(set) var totalValueSize = 0

    private init() {}

    /// Reads a table.
    ///
    /// - Throws: `VaultError` `.corrupt` for an encoding that this program does not produce: wrong order, two entries
    ///   of one name, a size beyond the limits, invalid UTF-8; `.unsupported` for an unknown accessibility.
    init(
        parsing bytes: ArraySlice<UInt8>, role: CompartmentRole, path: String, limits: ItemLimits = .standard
    ) throws(VaultError) {
        guard bytes.count <= limits.tableSize else { throw .corrupt(path, "Its items are larger than allowed.") }
        var rest = bytes
        while !rest.isEmpty {
            let entry = try ItemEntry(parsing: rest, limits: limits, path: path)
            rest = rest.dropFirst(entry.bytes.count)
            totalValueSize += entry.valueSize
            guard entries.count < limits.count, totalValueSize <= limits.totalValueSize else {
                throw .corrupt(path, "It has more items than allowed.")
            }
            guard role == .backup || CompartmentRole(entry.accessibility.protection) == role else {
                throw .corrupt(path, "It has an item of the other class.")
            }
            if let last = entries.last, last.order(entry) >= 0 {
                throw .corrupt(path, "Its items are out of order, or have a duplicate.")
            }
            entries.append(entry)
        }
        encodedSize = bytes.count
    }

    /// The table's bytes; unchanged bytes if the table was read and not changed.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(encodedSize)
        for entry in entries { bytes.append(contentsOf: entry.bytes) }
        return bytes
    }

    /// The item of that name, found by binary search.
    subscript(name: ItemName) -> ItemEntry? {
        let index = firstIndex { $0.order(name) >= 0 }
        guard index < entries.count, entries[index].order(name) == 0 else { return nil }
        return entries[index]
    }

    /// Returns the items of one service, in order.
    func entries(ofService service: [UInt8]) -> ArraySlice<ItemEntry> {
        entries[firstIndex { $0.order(service: service) >= 0 }..<firstIndex { $0.order(service: service) > 0 }]
    }

    /// Returns the first index whose entry satisfies a condition that holds for all later entries too.
    private func firstIndex(where isReached: (ItemEntry) -> Bool) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = low + (high - low) / 2
            if isReached(entries[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension ItemTable {
    /// Adds an item.
    ///
    /// - Throws: `VaultError` `.duplicateItem`, `.tooLarge`; the table is unchanged then.
    mutating func insert(_ entry: ItemEntry, limits: ItemLimits = .standard, path: String) throws(VaultError) {
        let index = firstIndex { $0.order(entry) >= 0 }
        if index < entries.count, entries[index].order(entry) == 0 {
            throw .duplicateItem(path)
        }
        try exchange(nil, for: entry, limits, path)
        entries.insert(entry, at: index)
    }

    /// Replaces the item of the same name.
    ///
    /// - Throws: `VaultError` `.itemNotFound`, `.tooLarge`; the table is unchanged then.
    mutating func replace(with entry: ItemEntry, limits: ItemLimits = .standard, path: String) throws(VaultError) {
        let index = firstIndex { $0.order(entry) >= 0 }
        guard index < entries.count, entries[index].order(entry) == 0 else {
            throw .noItem("update an item of", path)
        }
        try exchange(entries[index], for: entry, limits, path)
        entries[index] = entry
    }

    /// Removes an item.
    ///
    /// - Throws: `VaultError` `.itemNotFound`.
    mutating func remove(_ name: ItemName, path: String) throws(VaultError) {
        let index = firstIndex { $0.order(name) >= 0 }
        guard index < entries.count, entries[index].order(name) == 0 else {
            throw .noItem("delete an item of", path)
        }
        let old = entries.remove(at: index)
        encodedSize -= old.bytes.count
        totalValueSize -= old.valueSize
    }

    /// Returns the same items with other bytes; names, order and sizes do not change.
    func mapEntries(_ change: (ItemEntry) throws(VaultError) -> ItemEntry) throws(VaultError) -> ItemTable {
        var copy = self
        for index in entries.indices { copy.entries[index] = try change(entries[index]) }
        return copy
    }

    /// Replaces `old` by `entry` in the totals, if the limits allow it.
    private mutating func exchange(
        _ old: ItemEntry?, for entry: ItemEntry, _ limits: ItemLimits, _ path: String
    ) throws(VaultError) {
        let count = entries.count + (old == nil ? 1 : 0)
        let values = totalValueSize + entry.valueSize - (old?.valueSize ?? 0)
        let size = encodedSize + entry.bytes.count - (old?.bytes.count ?? 0)
        guard entry.valueSize <= limits.valueSize, count <= limits.count, values <= limits.totalValueSize,
            size <= limits.tableSize
        else {
            throw VaultError(
                .tooLarge, "store an item in", path,
                "It would contain \(count) items with \(values) bytes of values; allowed: \(limits.count) items, "
                    + "\(limits.totalValueSize) bytes of values, \(limits.tableSize) bytes in all.",
                advice: "Delete items that are no longer needed.")
        }
        encodedSize = size
        totalValueSize = values
    }
}

extension VaultError {
    static func duplicateItem(_ path: String) -> VaultError {
        VaultError(
            .duplicateItem, "add an item to", path, "It has an item of this service and account already.")
    }

    static func noItem(_ operation: String, _ path: String) -> VaultError {
        VaultError(
            .itemNotFound, operation, path, "It has no item of this service and account.")
    }
}

/// The limits on a vault's items, checked when adding and again when reading a table.
///
/// Tests choose smaller ones; the vault format has only the standard ones.
package struct ItemLimits: Sendable, Hashable {
    /// The largest value in bytes.
    package var valueSize: Int
    /// The total size of all values in bytes, before they are wrapped.
    package var totalValueSize: Int
    /// The size of the whole index in bytes: metadata, wrapped keys and small values.
    package var tableSize: Int
    /// The number of items.
    package var count: Int

    /// The size of a service, account or label in bytes of UTF-8.
    package static let nameSize = 1024

    package static let standard = ItemLimits(
        valueSize: 1 << 20, totalValueSize: 64 << 20, tableSize: 64 << 20, count: 100_000)

    package init(valueSize: Int, totalValueSize: Int, tableSize: Int, count: Int) {
        self.valueSize = valueSize
        self.totalValueSize = totalValueSize
        self.tableSize = tableSize
        self.count = count
    }

    /// - Throws: `VaultError` `.tooLarge` for a value beyond the limit.
    func require(_ value: UnsafeRawBufferPointer, _ operation: String, _ path: String) throws(VaultError) {
        guard value.count <= valueSize else {
            throw VaultError(
                .tooLarge, operation, path, "The value has \(value.count) bytes; allowed: \(valueSize).",
                advice: "Store it in a sealed file.")
        }
    }
}
