internal import CryptoPrimitives
internal import Glibc
internal import Sealing
internal import SharedFiles

extension Personalization {
    /// An item key, keyed by the root.
    static let itemKey = Personalization("SealedState.vik2")
    /// The key of one value, keyed by the item key.
    static let valueKey = Personalization("SealedState.vvk2")
    /// The mark of a machine in an item of `…ThisDeviceOnly`.
    static let itemDevice = Personalization("SealedState.vim2")
}

/// Seals and opens item values, each under its own key, which the index wraps (`docs/spec/vault.md`, section 8).
///
/// A rekey wraps item keys again and does not change values.
struct ItemValues: Sendable {
    static let magic = Array("SVAL".utf8) + [1, 0, 0, 0]
    static let headerSize = 24

    /// The path of this machine's id; tests name other machines.
    @TaskLocal static var machineIDPath = MachineIdentity.path

    let vaultID: [UInt8]
    let path: String

    /// Returns the directory name of a compartment's value files.
    static func leaf(_ role: CompartmentRole) -> String { role == .person ? "values.person" : "values" }

    /// A new value: the entry, and the file to write before an index names it.
    struct Sealed {
        let entry: ItemEntry
        /// `nil` for an inline value.
        let file: [UInt8]?
    }

    /// Seals a value.
    ///
    /// - Throws: `VaultError` `.noMachineIdentity`.
    func seal(
        _ value: UnsafeRawBufferPointer, _ name: ItemName, label: [UInt8], accessibility: Accessibility,
        createdAt: UInt64, modifiedAt: UInt64, root: RootKey
    ) throws(VaultError) -> Sealed {
        let device = try deviceTag(accessibility)
        let valueID = SecureRandom.bytes(count: ItemEntry.valueIDSize)
        let (wrapped, sealed) = ScratchMemory.withSecret(count: 32) { key in
            Self.fillItemKey(key, valueID, root)
            let itemKey = UnsafeRawBufferPointer(key)
            let bound = Self.bound(vaultID, valueID[...], accessibility, name)
            return (
                root.wrap(itemKey, for: .itemKeysKey, bound: bound),
                Self.seal(value, itemKey, device, valueID, accessibility)
            )
        }
        let isInline = value.count <= ItemEntry.maximumInlineSize
        let entry = ItemEntry(
            ItemEntry.Fields(
                name: name, label: label, accessibility: accessibility, createdAt: createdAt, modifiedAt: modifiedAt,
                valueSize: value.count, device: deviceMark(device), valueID: valueID, wrappedKey: wrapped,
                sealedValue: isInline ? sealed : []))
        return Sealed(entry: entry, file: isInline ? nil : Self.magic + valueID + sealed)
    }

    /// Opens an entry's value into `output`, which has the value's size.
    ///
    /// - Parameter sealed: The contents of the value file; `nil` for an inline value.
    /// - Throws: `VaultError` `.wrongDevice` for a value that belongs to another machine, `.corrupt` for one that does
    ///   not match its entry; `output` then contains no plaintext.
    func open(
        _ entry: ItemEntry, file: [UInt8]?, root: RootKey, into output: UnsafeMutableRawBufferPointer
    ) throws(VaultError) {
        let device = try deviceTag(entry.accessibility)
        guard entry.device.elementsEqual(deviceMark(device)) else {
            throw VaultError(
                .wrongDevice, "read an item of", path, "The item's value is bound to the machine on which it was added."
            )
        }
        let sealed = try self.sealed(entry, file)
        let bound = Self.bound(vaultID, entry)
        do throws(CryptoError) {
            try ScratchMemory.withSecret(count: 32) { key throws(CryptoError) in
                try root.unwrap(entry.wrappedKey, for: .itemKeysKey, bound: bound, into: key)
                try Self.open(
                    sealed, UnsafeRawBufferPointer(key), device, Array(entry.valueID), entry.accessibility, into: output
                )
            }
        } catch {
            throw corrupt("The item's value does not match its entry.")
        }
    }

    /// Opens a value and discards it.
    ///
    /// - Throws: `VaultError` as `open`.
    func check(_ entry: ItemEntry, file: [UInt8]?, root: RootKey) throws(VaultError) {
        try SecretPool.shared.withBytes(count: entry.valueSize) { output throws(VaultError) in
            try open(entry, file: file, root: root, into: output)
        } _: { (_: UnsafeRawBufferPointer) throws(VaultError) in
        }
    }

    private func sealed(_ entry: ItemEntry, _ file: [UInt8]?) throws(VaultError) -> ArraySlice<UInt8> {
        guard !entry.isInline else { return entry.sealedValue }
        guard let file, file.count == Self.headerSize + entry.valueSize + XChaCha20Poly1305.tagSize,
            file.starts(with: Self.magic), file[8..<Self.headerSize].elementsEqual(entry.valueID)
        else { throw corrupt("The item's value file is missing or was replaced.") }
        return file[Self.headerSize...]
    }

    /// Returns the entry with its item key wrapped under another root, or for another vault.
    func rewrapped(
        _ entry: ItemEntry, from old: RootKey, to new: RootKey, in vaultID: [UInt8]
    ) throws(VaultError) -> ItemEntry {
        let name = try ItemName(entry, path: path)
        var fields = entry.fields(name)
        let (bound, newBound) = (
            Self.bound(self.vaultID, entry), Self.bound(vaultID, entry.valueID, entry.accessibility, name)
        )
        do throws(CryptoError) {
            fields.wrappedKey = try ScratchMemory.withSecret(count: 32) { key throws(CryptoError) in
                try old.unwrap(entry.wrappedKey, for: .itemKeysKey, bound: bound, into: key)
                return new.wrap(UnsafeRawBufferPointer(key), for: .itemKeysKey, bound: newBound)
            }
        } catch {
            throw corrupt("An item's key does not match its entry.")
        }
        return ItemEntry(fields)
    }

    private func corrupt(_ reason: String) -> VaultError {
        VaultError(.corrupt, "read an item of", path, reason, advice: "Restore the item from a backup.")
    }

    private func deviceTag(_ accessibility: Accessibility) throws(VaultError) -> [UInt8]? {
        accessibility.isThisDeviceOnly ? try MachineIdentity.read(path: Self.machineIDPath).tag : nil
    }

    /// Returns a mark of this machine that does not reveal its tag, an input of the value's key.
    private func deviceMark(_ device: [UInt8]?) -> [UInt8] {
        guard let device else { return [UInt8](repeating: 0, count: ItemEntry.deviceSize) }
        return BLAKE2b.hash(vaultID + device, personalization: .itemDevice, count: ItemEntry.deviceSize)
    }

    private static func bound(_ vaultID: [UInt8], _ entry: ItemEntry) -> [UInt8] {
        bound(
            vaultID, entry.valueID, entry.accessibility, service: entry.service, account: entry.account)
    }

    private static func bound(
        _ vaultID: [UInt8], _ valueID: ArraySlice<UInt8>, _ accessibility: Accessibility, _ name: ItemName
    ) -> [UInt8] {
        bound(vaultID, valueID, accessibility, service: name.service[...], account: name.account[...])
    }

    private static func bound(
        _ vaultID: [UInt8], _ valueID: ArraySlice<UInt8>, _ accessibility: Accessibility, service: ArraySlice<UInt8>,
        account: ArraySlice<UInt8>
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(vaultID)
        writer.append(valueID)
        writer.append(accessibility.code)
        writer.append(UInt16(service.count))
        writer.append(service)
        writer.append(account)
        return writer.bytes
    }

    /// Fills in a key that does not repeat after a fork, a clone or a restored image of this process, even with a
    /// failed random source. With the constant nonce, two values under one key would reveal each other.
    private static func fillItemKey(_ key: UnsafeMutableRawBufferPointer, _ valueID: [UInt8], _ root: RootKey) {
        ScratchMemory.withSecret(count: FreshInput.size + valueID.count) { input in
            FreshInput.fill(UnsafeMutableRawBufferPointer(rebasing: input[..<FreshInput.size]))
            UnsafeMutableRawBufferPointer(rebasing: input[FreshInput.size...]).copyBytes(from: valueID)
            root.withUnsafeBytes {
                BLAKE2b.hash(UnsafeRawBufferPointer(input), key: $0, personalization: .itemKey, into: key)
            }
        }
    }

    private static let nonce = [UInt8](repeating: 0, count: XChaCha20Poly1305.nonceSize)

    /// Seals a value. The item key is used for only one value, so the nonce may be constant.
    private static func seal(
        _ value: UnsafeRawBufferPointer, _ itemKey: UnsafeRawBufferPointer, _ device: [UInt8]?, _ valueID: [UInt8],
        _ accessibility: Accessibility
    ) -> [UInt8] {
        let bound = valueID + [accessibility.code]
        let size = value.count + XChaCha20Poly1305.tagSize
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            let output = UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[..<size]))
            withValueKey(itemKey, device) { key in
                nonce.withRawBytes { nonce in
                    bound.withRawBytes {
                        XChaCha20Poly1305.seal(value, associated: $0, nonce: nonce, key: key, into: output)
                    }
                }
            }
            count = size
        }
    }

    private static func open(
        _ sealed: ArraySlice<UInt8>, _ itemKey: UnsafeRawBufferPointer, _ device: [UInt8]?, _ valueID: [UInt8],
        _ accessibility: Accessibility, into output: UnsafeMutableRawBufferPointer
    ) throws(CryptoError) {
        let bound = valueID + [accessibility.code]
        try withValueKey(itemKey, device) { key throws(CryptoError) in
            try sealed.span.withUnsafeBytes { sealed throws(CryptoError) in
                try nonce.withRawBytes { nonce throws(CryptoError) in
                    try bound.withRawBytes { bound throws(CryptoError) in
                        try XChaCha20Poly1305.open(sealed, associated: bound, nonce: nonce, key: key, into: output)
                    }
                }
            }
        }
    }

    private static func withValueKey<Result: ~Copyable, Failure: Error>(
        _ itemKey: UnsafeRawBufferPointer, _ device: [UInt8]?,
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try ScratchMemory.withSecret(count: 32) { key throws(Failure) in
            (device ?? []).withRawBytes { BLAKE2b.hash($0, key: itemKey, personalization: .valueKey, into: key) }
            return try body(UnsafeRawBufferPointer(key))
        }
    }
}

/// The value files of one compartment. All changes happen under the vault's lock.
struct ValueFiles {
    let directory: Directory
    let role: CompartmentRole

    private func open() throws(FileError) -> Directory { try directory.directory(ItemValues.leaf(role)) }

    /// Returns a value file's contents; `nil` if the file does not exist.
    func read(_ entry: ItemEntry) throws(VaultError) -> [UInt8]? {
        do throws(FileError) {
            return try open().read(
                entry.valueFileName, limit: ItemValues.headerSize + entry.valueSize + XChaCha20Poly1305.tagSize)
        } catch {
            if error.code == .notFound || error.code == .tooLarge { return nil }
            throw VaultError(error, "read an item of")
        }
    }

    /// Writes value files durably, before an index names them.
    func write(_ files: [(name: String, bytes: [UInt8])]) throws(VaultError) {
        guard !files.isEmpty else { return }
        try VaultError.beforeCompletion { () throws(VaultError) in
            try VaultError.onFiles("store an item in") { () throws(FileError) in
                let values = try directory.makeDirectory(ItemValues.leaf(role), sharing: directory.sharing)
                for file in files {
                    try file.bytes.withRawBytes { bytes throws(FileError) in
                        try values.createExclusively(file.name, with: bytes, mode: values.fileMode)
                    }
                }
            }
        }
    }

    /// Returns the names of value files that no entry names: those of deleted items, and those that a killed program
    /// left.
    func leftovers(keeping entries: [ItemEntry]) -> [String] {
        guard let values = try? open(), let found = try? values.entries() else { return [] }
        let named = Set(entries.lazy.filter { !$0.isInline }.map(\.valueFileName))
        return found.filter { $0.kind == .regular && Self.isValueName($0.name) && !named.contains($0.name) }.map(\.name)
    }

    /// Removes those value files. The lock excludes a writer whose index does not name its new value file yet.
    ///
    /// - Parameter entries: The entries of the index as read under this lock, and any others to keep.
    func sweep(keeping entries: [ItemEntry], under lock: borrowing HeldLock) {
        let names = leftovers(keeping: entries)
        guard !names.isEmpty, lock.isStillNamed(), let values = try? open() else { return }
        for name in names { try? values.remove(name, durability: .unsynced) }
    }

    private static func isValueName(_ name: String) -> Bool {
        name.utf8.count == 2 * ItemEntry.valueIDSize
            && name.utf8.allSatisfy(\.isLowerHexDigit)
    }
}
