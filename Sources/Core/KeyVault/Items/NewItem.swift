/// An item that is to be added; its value lies with the caller for the length of the call.
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

/// The same once texts and value are within their limits: all that can be asked before the vault's lock is taken.
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
