extension ItemEntry {
    /// Reads the entry at the front of `bytes` and checks everything that does not need a key.
    ///
    /// - Throws: `VaultError` `.corrupt`; `.unsupported` for an accessibility that this version does not know.
    init(parsing bytes: ArraySlice<UInt8>, limits: ItemLimits, path: String) throws(VaultError) {
        let found = try bytes.span.withUnsafeBytes { raw throws(VaultError) in
            let sizes = try ItemSizes(parsing: raw, limits: limits, path: path)
            try Self.checkTexts(raw, sizes, path: path)
            return (size: sizes.entry, accessibility: try Self.accessibility(raw, path: path))
        }
        self.init(bytes: bytes.prefix(found.size), accessibility: found.accessibility)
    }

    private static func accessibility(_ raw: UnsafeRawBufferPointer, path: String) throws(VaultError) -> Accessibility {
        let code = raw[6]
        guard let accessibility = Accessibility(code: code) else {
            throw VaultError(
                .unsupported, "open the vault", path, "It has an item of an unknown accessibility \(code).")
        }
        guard accessibility.isThisDeviceOnly || raw[32..<fixedSize].allSatisfy({ $0 == 0 }) else {
            throw .corrupt(path, "An item that any machine may read names one.")
        }
        return accessibility
    }

    private static func checkTexts(
        _ raw: UnsafeRawBufferPointer, _ sizes: ItemSizes, path: String
    ) throws(VaultError) {
        let account = fixedSize + sizes.service
        let label = account + sizes.account
        func isText(_ range: Range<Int>) -> Bool { ItemName.isText(UnsafeRawBufferPointer(rebasing: raw[range])) }
        guard isText(fixedSize..<account), isText(account..<label), isText(label..<label + sizes.label) else {
            throw .corrupt(path, "An item's service, account or label is not text.")
        }
    }
}

/// The sizes at the front of an entry, within their limits and within the bytes that are there.
private struct ItemSizes {
    let service: Int
    let account: Int
    let label: Int
    let entry: Int

    init(parsing raw: UnsafeRawBufferPointer, limits: ItemLimits, path: String) throws(VaultError) {
        guard raw.count >= ItemEntry.fixedSize else { throw .corrupt(path, "An item ends too early.") }
        func number<Value: FixedWidthInteger>(_ offset: Int, _: Value.Type) -> Int {
            Int(Value(littleEndian: raw.loadUnaligned(fromByteOffset: offset, as: Value.self)))
        }
        service = number(0, UInt16.self)
        account = number(2, UInt16.self)
        label = number(4, UInt16.self)
        let value = number(24, UInt32.self)
        guard raw[7] == 0, number(28, UInt32.self) == 0, service > 0, account > 0,
            max(service, account, label) <= ItemLimits.nameSize, value <= limits.valueSize
        else { throw .corrupt(path, "An item has impossible numbers.") }
        entry = ItemEntry.fixedSize + service + account + label + value + ItemWrap.overhead
        guard entry <= raw.count else { throw .corrupt(path, "An item ends too early.") }
    }
}
