internal import CryptoPrimitives
internal import KeyVault
internal import Sealing
internal import SharedFiles
internal import SystemPackage

/// A record's last good blob as it is stored in this user's own state (`docs/spec/watermarks.md`).
struct KeptBlob: Sendable {
    static let headSize = 48
    private static let magic = Array("SLGV".utf8) + [1, 0, 0, 0]

    /// The accepted state of the record: the blob's own, or a later one that was refused and is no deletion.
    let covered: Watermark
    /// The blob as it was read or written.
    let sealed: [UInt8]

    init(covered: Watermark, sealed: [UInt8]) {
        self.covered = covered
        self.sealed = sealed
    }

    /// Returns `nil` for other bytes. The blob is verified when it is opened.
    init?(parsing bytes: [UInt8]) {
        guard bytes.count > Self.headSize, bytes.starts(with: Self.magic) else { return nil }
        covered = bytes.withUnsafeBytes { bytes in
            Watermark(
                epoch: 0, sequence: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                commitment: Commitment(bytes: Bytes32(UnsafeRawBufferPointer(rebasing: bytes[16..<Self.headSize]))))
        }
        sealed = Array(bytes[Self.headSize...])
    }

    var encoded: [UInt8] {
        var bytes = Self.magic
        bytes.reserveCapacity(Self.headSize + sealed.count)
        withUnsafeBytes(of: covered.sequence.littleEndian) { bytes += $0 }
        (covered.commitment?.bytes ?? .zero).withUnsafeBytes { bytes += $0 }
        return bytes + sealed
    }

    /// Returns `true` if the record's accepted state is the one that this value stays good for. Any other one may be a
    /// deletion, and this file an older copy.
    ///
    /// - Parameter mark: The accepted state; `nil` if none is known, as after a loss.
    func isCurrent(after mark: Watermark?) -> Bool {
        guard let mark else { return false }
        // After a restart of the machine only a floor is known.
        guard let commitment = mark.commitment else { return covered.sequence >= mark.sequence }
        return covered.commitment == commitment
    }
}

/// The last good values of a group in this user's own state: a directory for each vault, with one file for each record,
/// named by the record's name tag.
///
/// Bounded by count and size: the value that was stored longest ago is removed first. Nothing is synced. After a power
/// loss a file may be missing or cut short, and counts for nothing.
struct LastGoodFiles: Sendable {
    let vault: Vault
    var maximumCount = LastGoodValues.maximumCount
    var maximumSize = LastGoodValues.maximumSize

    /// Returns the stored value of a record; `nil` if no file can be read.
    ///
    /// - Parameter limit: The size of the largest blob.
    func load(_ name: NameTag, limit: Int) -> KeptBlob? {
        guard let directory = try? Directory.openOwn(vault.lastGoodPath),
            let bytes = try? directory.read(name.description, limit: limit + KeptBlob.headSize)
        else { return nil }
        return KeptBlob(parsing: bytes)
    }

    /// Stores a value, unless it is stored already. A value that is too large removes the stored one.
    ///
    /// - Parameter isGood: Returns `true` for a stored value of a later state that stays.
    func store(
        _ kept: KeptBlob, for name: NameTag, unless isGood: (KeptBlob) -> Bool = { _ in false }
    ) throws(FileError) {
        guard kept.sealed.count <= maximumSize else { return remove(name) }
        let directory = try openOrCreate()
        let (leaf, bytes) = (name.description, kept.encoded)
        if let stored = try? directory.read(leaf, limit: bytes.count), stored == bytes { return }
        // Another process may have stored a newer value meanwhile.
        if let head = try? directory.readPrefix(leaf, count: KeptBlob.headSize + 1).bytes,
            let stored = KeptBlob(parsing: head), stored.covered.sequence > kept.covered.sequence,
            let whole = load(name, limit: maximumSize), isGood(whole)
        {
            return
        }
        try directory.replace(leaf, with: bytes, mode: 0o600, durability: .unsynced)
        try shrink(directory, besides: leaf)
    }

    /// A new directory is that of a new vault: those of the group's former vaults are removed.
    private func openOrCreate() throws(FileError) -> Directory {
        if let directory = try? Directory.openOwn(vault.lastGoodPath) { return directory }
        let directory = try Directory.createOwn(vault.lastGoodPath)
        guard let own = vault.lastGoodPath.lastComponent?.string,
            let parent = try? Directory.openOwn(vault.lastGoodPath.removingLastComponent())
        else { return directory }
        for entry in (try? parent.entries()) ?? [] where entry.name != own && entry.name.utf8.count == own.utf8.count {
            if entry.name.dropLast(Vault.lastGoodDigits) == own.dropLast(Vault.lastGoodDigits) {
                try? parent.removeTree(entry.name)
            }
        }
        return directory
    }

    /// Removes the stored value of a record, if any.
    func remove(_ name: NameTag) {
        guard let directory = try? Directory.openOwn(vault.lastGoodPath) else { return }
        try? directory.remove(name.description, durability: .unsynced)
    }

    /// Removes the values under keys that a completed rotation has retired.
    func removeRetired(by keyring: Keyring) {
        guard let directory = try? Directory.openOwn(vault.lastGoodPath) else { return }
        for entry in (try? directory.entries()) ?? [] {
            let count = KeptBlob.headSize + BlobLayout.headerSize
            guard let prefix = try? directory.readPrefix(entry.name, count: count).bytes, prefix.count == count,
                let header = try? UnverifiedHeader(parsing: Array(prefix[KeptBlob.headSize...])).claimed,
                header.epoch < keyring.minimumEpoch(for: header.keyID)
            else { continue }
            try? directory.remove(entry.name, durability: .unsynced)
        }
    }

    private func shrink(_ directory: Directory, besides leaf: String) throws(FileError) {
        var files = try directory.entries().compactMap { entry -> (name: String, facts: FileAttributes)? in
            (try? directory.attributes(entry.name)).map { (entry.name, $0) }
        }
        files.sort { $0.facts.modifiedNanoseconds < $1.facts.modifiedNanoseconds }
        var (count, size) = (files.count, files.reduce(0) { $0 + Int($1.facts.size) })
        for file in files where file.name != leaf && (count > maximumCount || size > maximumSize) {
            try? directory.remove(file.name, durability: .unsynced)
            count -= 1
            size -= Int(file.facts.size)
        }
    }
}
