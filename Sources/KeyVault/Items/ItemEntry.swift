internal import CryptoPrimitives

/// One item as it lies in the vault's body: metadata, and the value wrapped (`docs/vault.md`, section "Items").
///
/// It is a slice of the body that it was read from: nothing is copied, and no value is in clear.
struct ItemEntry: Hashable, Sendable {
    static let fixedSize = 48
    static let deviceSize = 16

    /// The whole entry, as it is written.
    let bytes: ArraySlice<UInt8>
    let accessibility: Accessibility

    var service: ArraySlice<UInt8> { part(at: Self.fixedSize, serviceSize) }
    var account: ArraySlice<UInt8> { part(at: Self.fixedSize + serviceSize, accountSize) }
    var label: ArraySlice<UInt8> { part(at: Self.fixedSize + serviceSize + accountSize, labelSize) }
    /// Nonce, ciphertext and tag.
    var wrappedValue: ArraySlice<UInt8> { bytes.suffix(valueSize + ItemWrap.overhead) }
    /// Names the machine that a `…ThisDeviceOnly` value belongs to; zeros for the others.
    var device: ArraySlice<UInt8> { part(at: 32, Self.deviceSize) }

    /// Milliseconds since 1970.
    var createdAt: UInt64 { number(at: 8) }
    /// Milliseconds since 1970.
    var modifiedAt: UInt64 { number(at: 16) }
    /// The value's size in bytes, unwrapped.
    var valueSize: Int { Int(number(at: 24) as UInt32) }

    private var serviceSize: Int { Int(number(at: 0) as UInt16) }
    private var accountSize: Int { Int(number(at: 2) as UInt16) }
    private var labelSize: Int { Int(number(at: 4) as UInt16) }

    /// An entry made of checked parts.
    init(
        _ name: ItemName, label: some Collection<UInt8>, accessibility: Accessibility, createdAt: UInt64,
        modifiedAt: UInt64, device: some Collection<UInt8>, wrappedValue: some Collection<UInt8>
    ) {
        var writer = ByteWriter()
        writer.append(UInt16(name.service.count))
        writer.append(UInt16(name.account.count))
        writer.append(UInt16(label.count))
        writer.append(accessibility.code)
        writer.append(UInt8(0))
        writer.append(createdAt)
        writer.append(modifiedAt)
        writer.append(UInt32(wrappedValue.count - ItemWrap.overhead))
        writer.append(UInt32(0))
        writer.append(device)
        writer.append(name.service)
        writer.append(name.account)
        writer.append(label)
        writer.append(wrappedValue)
        bytes = writer.bytes[...]
        self.accessibility = accessibility
    }

    init(bytes: ArraySlice<UInt8>, accessibility: Accessibility) {
        self.bytes = bytes
        self.accessibility = accessibility
    }

    /// Less than, equal to or more than zero as this item's name comes before, is or comes after the other one's.
    func order(_ other: ItemEntry) -> Int {
        withNames { service, account in
            other.withNames { otherService, otherAccount in
                let order = ItemName.order(service, otherService)
                return order != 0 ? order : ItemName.order(account, otherAccount)
            }
        }
    }

    /// The same for a name.
    func order(_ name: ItemName) -> Int {
        withNames { service, account in
            let order = name.service.withRawBytes { ItemName.order(service, $0) }
            return order != 0 ? order : name.account.withRawBytes { ItemName.order(account, $0) }
        }
    }

    /// The same for a service alone: zero for each of its items.
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
