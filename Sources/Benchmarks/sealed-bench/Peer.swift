import CBaseline
import Glibc
import Sealing

/// The C side's state between calls, copied from the Swift side: the same place, the same key.
extension cbaseline_place {
    init(_ context: BlobContext, _ key: SealingKey, schemaVersion: UInt32) {
        self.init()
        context.groupTag.bytes.withUnsafeBytes { Self.copy($0, to: &group_tag) }
        context.nameTag.bytes.withUnsafeBytes { Self.copy($0, to: &name_tag) }
        key.id.bytes.withUnsafeBytes { Self.copy($0, to: &key_id) }
        key.withUnsafeBytes { Self.copy($0, to: &self.key) }
        epoch = key.epoch
        schema_version = schemaVersion
    }

    private static func copy<Field>(_ bytes: UnsafeRawBufferPointer, to field: inout Field) {
        withUnsafeMutableBytes(of: &field) { $0.copyBytes(from: bytes) }
    }
}

/// The files of the C side: the same as ours, except for a separate log of watermarks.
final class PeerFiles {
    let target: cbaseline_target
    private let texts: [UnsafeMutablePointer<CChar>]
    private let vaultFront: UnsafeMutableBufferPointer<UInt8>
    private let vaultFolder: Int32

    /// - Parameters:
    ///   - container: The container's descriptor, which outlives this.
    ///   - folder: The record's directory, below the container.
    ///   - vault: The vault's file, whose first bytes a writer compares.
    init(
        container: Int32, lockFile: String, folder: String, leaf: String, watermarks: String, vault: String
    ) throws {
        let split = vault.lastIndex(of: "/") ?? vault.startIndex
        let names = [
            lockFile, folder, leaf, ".\(leaf).new", watermarks, "peer.marks", "\(folder)/\(leaf)",
            String(vault[vault.index(after: split)...]), "\(watermarks)/peer.marks",
        ]
        vaultFolder = open(String(vault[..<split]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        vaultFront = .allocate(capacity: 512)
        let file = openat(vaultFolder, String(vault[vault.index(after: split)...]), O_RDONLY | O_CLOEXEC)
        let frontSize = Glibc.pread(file, vaultFront.baseAddress, vaultFront.count, 0)
        close(file)
        guard frontSize > 0 else { throw BenchmarkFailure("the vault cannot be read") }
        texts = names.compactMap { strdup($0) }
        guard texts.count == names.count else { throw BenchmarkFailure("out of memory") }
        var target = cbaseline_target()
        target.container = container
        target.lock_name = UnsafePointer(texts[0])
        target.lock_offset = 1
        target.path = UnsafePointer(texts[6])
        target.folder = UnsafePointer(texts[1])
        target.leaf = UnsafePointer(texts[2])
        target.pending_leaf = UnsafePointer(texts[3])
        target.watermarks_folder = UnsafePointer(texts[4])
        target.watermarks_leaf = UnsafePointer(texts[5])
        target.watermarks_path = UnsafePointer(texts[8])
        target.vault_folder = vaultFolder
        target.vault_leaf = UnsafePointer(texts[7])
        target.vault_front = UnsafePointer(vaultFront.baseAddress)
        target.vault_front_size = frontSize
        self.target = target
    }

    deinit {
        texts.forEach { free($0) }
        vaultFront.deallocate()
        close(vaultFolder)
    }
}
