import CryptoPrimitives
import Testing

@testable import KeyVault

/// Makes entries without a vault around them.
final class ItemForge {
    static let path = "/the/vault"

    let wrap: ItemWrap
    private let key: [UInt8]

    init(vaultID: UInt8 = 1, device: UInt8 = 2, key: UInt8 = 3) {
        wrap = ItemWrap(
            vaultID: [UInt8](repeating: vaultID, count: 16), device: [UInt8](repeating: device, count: 16))
        self.key = [UInt8](repeating: key, count: 32)
    }

    static func name(_ service: String, _ account: String) throws(VaultError) -> ItemName {
        try ItemName(service: service, account: account, operation: "test", path: path)
    }

    func entry(
        _ service: String, _ account: String, label: String = "", _ accessibility: Accessibility = .afterFirstUnlock,
        value: [UInt8] = [1, 2, 3], at time: UInt64 = 1_700_000_000_000
    ) throws(VaultError) -> ItemEntry {
        let name = try Self.name(service, account)
        return value.withRawBytes { value in
            key.withRawBytes { key in
                wrap.entry(
                    name, label: Array(label.utf8), accessibility: accessibility, createdAt: time,
                    modifiedAt: time + 1, value: value, under: key)
            }
        }
    }

    func open(_ entry: ItemEntry) throws(VaultError) -> [UInt8] {
        var value = [UInt8](repeating: 0, count: entry.valueSize)
        // A plain array may hold a test's value; a real one never leaves secret memory.
        try value.withTypedMutableBytes { output throws(VaultError) in
            try key.withRawBytes { key throws(VaultError) in
                try wrap.open(entry, under: key, into: output, path: Self.path)
            }
        }
        return value
    }

    func table(_ entries: [ItemEntry], limits: ItemLimits = .standard) throws(VaultError) -> ItemTable {
        var table = ItemTable.empty
        for entry in entries { try table.insert(entry, limits: limits, path: Self.path) }
        return table
    }

    static func parse(_ bytes: [UInt8], limits: ItemLimits = .standard) throws(VaultError) -> ItemTable {
        try ItemTable(parsing: bytes[...], path: path, limits: limits)
    }
}

extension [UInt8] {
    fileprivate mutating func withTypedMutableBytes<Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        try withUnsafeMutableBufferPointer { buffer throws(Failure) in try body(UnsafeMutableRawBufferPointer(buffer)) }
    }
}
