import CryptoPrimitives
import TestSupport
import Testing

@testable import KeyVault

/// A generator of entries without a vault.
final class ItemForge {
    static let path = "/the/vault"

    let values: ItemValues
    private let root: RootKey
    private let machine: String
    private let directory: TemporaryDirectory
    /// The value files of the generated entries, by name.
    private(set) var files: [String: [UInt8]] = [:]

    /// - Parameters:
    ///   - device: The digit of the machine's id.
    ///   - root: The byte that its root consists of.
    init(vaultID: UInt8 = 1, device: Character = "2", root: UInt8 = 3) throws {
        values = ItemValues(vaultID: [UInt8](repeating: vaultID, count: 16), path: Self.path)
        self.root = [UInt8](repeating: root, count: 32).withRawBytes { RootKey(copying: $0) }
        directory = try TemporaryDirectory()
        machine = directory.path("machine-id")
        try SystemFile.write(machine, Array((String(repeating: device, count: 32) + "\n").utf8))
    }

    static func name(_ service: String, _ account: String) throws(VaultError) -> ItemName {
        try ItemName(service: service, account: account, operation: "test", path: path)
    }

    func entry(
        _ service: String, _ account: String, label: String = "", _ accessibility: Accessibility = .afterFirstUnlock,
        value: [UInt8] = [1, 2, 3], at time: UInt64 = 1_700_000_000_000
    ) throws -> ItemEntry {
        let name = try Self.name(service, account)
        let sealed = try ItemValues.$machineIDPath.withValue(machine) {
            try value.withRawBytes {
                try values.seal(
                    $0, name, label: Array(label.utf8), accessibility: accessibility, createdAt: time,
                    modifiedAt: time + 1, root: root)
            }
        }
        files[sealed.entry.valueFileName] = sealed.file
        return sealed.entry
    }

    /// Opens an entry with the value file that was generated with it, or with another one.
    func open(_ entry: ItemEntry, file: [UInt8]? = nil) throws(VaultError) -> [UInt8] {
        let file = file ?? files[entry.valueFileName]
        var value = [UInt8](repeating: 0, count: entry.valueSize)
        var result: Result<Void, VaultError> = .success(())
        // A plain array may contain a test's value. A real value never leaves secret memory.
        value.withUnsafeMutableBytes { output in
            ItemValues.$machineIDPath.withValue(machine) {
                do throws(VaultError) { try values.open(entry, file: file, root: root, into: output) } catch {
                    result = .failure(error)
                }
            }
        }
        try result.get()
        return value
    }

    func table(_ entries: [ItemEntry], limits: ItemLimits = .standard) throws(VaultError) -> ItemTable {
        var table = ItemTable.empty
        for entry in entries { try table.insert(entry, limits: limits, path: Self.path) }
        return table
    }

    static func parse(
        _ bytes: [UInt8], role: CompartmentRole = .backup, limits: ItemLimits = .standard
    ) throws(VaultError) -> ItemTable {
        try ItemTable(parsing: bytes[...], role: role, path: path, limits: limits)
    }
}
