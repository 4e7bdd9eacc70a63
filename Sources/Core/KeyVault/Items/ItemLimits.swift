/// How much a vault's items may take; checked when something is added and again when a table is read.
///
/// Tests choose smaller ones; the vault format has the standard ones only.
package struct ItemLimits: Sendable, Hashable {
    /// The largest value in bytes.
    package var valueSize: Int
    /// All values together, in bytes, before they are wrapped.
    package var totalValueSize: Int
    /// The whole index in bytes: metadata, wrapped keys and small values.
    package var tableSize: Int
    /// How many items.
    package var count: Int

    /// A service, account or label in bytes of UTF-8.
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
                advice: "Keep it in a sealed file.")
        }
    }
}
