internal import CryptoPrimitives
internal import Sealing

/// An item's entry in the index: metadata, the wrapped item key, and a sealed small value (`docs/spec/vault.md`,
/// section 8).
///
/// It is a slice of the index from which it was read: nothing is copied, and no value is in plaintext.
struct ItemEntry: Hashable, Sendable {
    static let fixedSize = 136
    static let deviceSize = 16
    static let valueIDSize = 16
    /// The largest value in the entry; larger values have their own files.
    static let maximumInlineSize = 256

    /// The whole encoded entry.
    let bytes: ArraySlice<UInt8>
    let accessibility: Accessibility

    var service: ArraySlice<UInt8> { part(at: Self.fixedSize, serviceSize) }
    var account: ArraySlice<UInt8> { part(at: Self.fixedSize + serviceSize, accountSize) }
    var label: ArraySlice<UInt8> { part(at: Self.fixedSize + serviceSize + accountSize, labelSize) }
    /// Ciphertext and tag of an inline value; empty for a value file.
    var sealedValue: ArraySlice<UInt8> {
        isInline ? bytes.suffix(valueSize + XChaCha20Poly1305.tagSize) : bytes.suffix(0)
    }
    /// `true` if the value is in the entry.
    var isInline: Bool { part(at: 7, 1).first == 0 }
    /// A mark of the machine that a `…ThisDeviceOnly` value belongs to; zeros for others.
    var device: ArraySlice<UInt8> { part(at: 32, Self.deviceSize) }
    /// A random id that names the value file.
    var valueID: ArraySlice<UInt8> { part(at: 48, Self.valueIDSize) }
    var valueFileName: String { valueID.withUnsafeBytes { $0.hexadecimal } }
    var wrappedKey: ArraySlice<UInt8> { part(at: 64, 32 + SecretWrap.overhead) }

    /// Milliseconds since 1970.
    var createdAt: UInt64 { number(at: 8) }
    /// Milliseconds since 1970.
    var modifiedAt: UInt64 { number(at: 16) }
    /// The value's size in bytes, in plaintext.
    var valueSize: Int { Int(number(at: 24) as UInt32) }

    private var serviceSize: Int { Int(number(at: 0) as UInt16) }
    private var accountSize: Int { Int(number(at: 2) as UInt16) }
    private var labelSize: Int { Int(number(at: 4) as UInt16) }

    /// The fields of a new entry.
    struct Fields {
        var name: ItemName
        var label: [UInt8]
        var accessibility: Accessibility
        var createdAt: UInt64
        var modifiedAt: UInt64
        var valueSize: Int
        var device: [UInt8]
        var valueID: [UInt8]
        var wrappedKey: [UInt8]
        /// Empty for a value file.
        var sealedValue: [UInt8]
    }

    /// Creates an entry from checked fields.
    init(_ fields: Fields) {
        var writer = ByteWriter()
        writer.append(UInt16(fields.name.service.count))
        writer.append(UInt16(fields.name.account.count))
        writer.append(UInt16(fields.label.count))
        writer.append(fields.accessibility.code)
        writer.append(UInt8(fields.sealedValue.isEmpty ? 1 : 0))
        writer.append(fields.createdAt)
        writer.append(fields.modifiedAt)
        writer.append(UInt32(fields.valueSize))
        writer.append(UInt32(0))
        writer.append(fields.device)
        writer.append(fields.valueID)
        writer.append(fields.wrappedKey)
        writer.append(fields.name.service)
        writer.append(fields.name.account)
        writer.append(fields.label)
        writer.append(fields.sealedValue)
        bytes = writer.bytes[...]
        accessibility = fields.accessibility
    }

    /// Returns the fields, for creating a changed entry.
    func fields(_ name: ItemName) -> Fields {
        Fields(
            name: name, label: Array(label), accessibility: accessibility, createdAt: createdAt,
            modifiedAt: modifiedAt, valueSize: valueSize, device: Array(device), valueID: Array(valueID),
            wrappedKey: Array(wrappedKey), sealedValue: Array(sealedValue))
    }

    init(bytes: ArraySlice<UInt8>, accessibility: Accessibility) {
        self.bytes = bytes
        self.accessibility = accessibility
    }

    /// Returns a number less than, equal to or greater than zero if this item's name is before, equal to or after the
    /// other's.
    func order(_ other: ItemEntry) -> Int {
        withNames { service, account in
            other.withNames { otherService, otherAccount in
                let order = ItemName.order(service, otherService)
                return order != 0 ? order : ItemName.order(account, otherAccount)
            }
        }
    }

    /// Compares with a name in the same way.
    func order(_ name: ItemName) -> Int {
        withNames { service, account in
            let order = name.service.withRawBytes { ItemName.order(service, $0) }
            return order != 0 ? order : name.account.withRawBytes { ItemName.order(account, $0) }
        }
    }

    /// Compares only the service in the same way: zero for each of its items.
    func order(service other: [UInt8]) -> Int {
        withNames { service, _ in other.withRawBytes { ItemName.order(service, $0) } }
    }

    @inline(__always)
    private func withNames<Result>(
        _ body: (_ service: UnsafeRawBufferPointer, _ account: UnsafeRawBufferPointer) -> Result
    ) -> Result {
        bytes.span.withUnsafeBytes { raw in
            let service = Int(UInt16(littleEndian: raw.loadUnaligned(fromByteOffset: 0, as: UInt16.self)))
            let account = Int(UInt16(littleEndian: raw.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
            let names = Self.fixedSize
            return body(
                UnsafeRawBufferPointer(rebasing: raw[names..<names + service]),
                UnsafeRawBufferPointer(rebasing: raw[names + service..<names + service + account]))
        }
    }

    private func part(at offset: Int, _ count: Int) -> ArraySlice<UInt8> { bytes.dropFirst(offset).prefix(count) }

    private func number<Value: FixedWidthInteger>(at offset: Int) -> Value {
        bytes.span.withUnsafeBytes {
            Value(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Value.self))
        }
    }
}

extension ItemEntry {
    /// Parses the entry at the front of `bytes` and checks everything that does not need a key.
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
        guard accessibility.isThisDeviceOnly != raw[32..<48].allSatisfy({ $0 == 0 }) else {
            throw .corrupt(path, "An item's machine does not match its accessibility.")
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

/// The sizes at the start of an entry, within their limits and the available bytes.
private struct ItemSizes {
    let service: Int
    let account: Int
    let label: Int
    let entry: Int

    init(parsing raw: UnsafeRawBufferPointer, limits: ItemLimits, path: String) throws(VaultError) {
        guard raw.count >= ItemEntry.fixedSize else { throw .corrupt(path, "An item is truncated.") }
        service = Int(raw.number(at: 0, as: UInt16.self))
        account = Int(raw.number(at: 2, as: UInt16.self))
        label = Int(raw.number(at: 4, as: UInt16.self))
        let value = Int(raw.number(at: 24, as: UInt32.self))
        guard raw[7] <= 1, raw.number(at: 28, as: UInt32.self) == 0, service > 0, account > 0,
            max(service, account, label) <= ItemLimits.nameSize, value <= limits.valueSize,
            (raw[7] == 0) == (value <= ItemEntry.maximumInlineSize)
        else { throw .corrupt(path, "An item has invalid numbers.") }
        let inline = raw[7] == 0 ? value + XChaCha20Poly1305.tagSize : 0
        entry = ItemEntry.fixedSize + service + account + label + inline
        guard entry <= raw.count else { throw .corrupt(path, "An item is truncated.") }
    }
}
