internal import CryptoPrimitives

extension Personalization {
    /// The key that item values are wrapped under (key: class key).
    static let itemKey = Personalization("SealedState.vik1")
    /// What an item says of the machine that it belongs to (no key).
    static let itemDevice = Personalization("SealedState.vid1")
}

/// Wraps item values one by one, so that the decrypted body of a vault holds none.
///
/// A wrapped value fits one vault, one class key, one accessibility, one service and account, and, of a
/// `…ThisDeviceOnly` item, one machine; in any other place it does not open.
struct ItemWrap: Sendable {
    static let overhead = SecretWrap.overhead

    /// Where this machine's id lies; tests name other machines.
    @TaskLocal static var machineIDPath = MachineIdentity.path

    private let vaultID: [UInt8]
    private let device: [UInt8]

    /// - Parameter device: 16 bytes that only this machine has; of no account for items of any machine.
    init(vaultID: [UInt8], device: [UInt8]) {
        self.vaultID = vaultID
        self.device = device
    }

    /// For items of one accessibility, on this machine.
    ///
    /// - Throws: `VaultError` `.noMachineIdentity` where the accessibility asks for one and the machine has none.
    init(vaultID: [UInt8], for accessibility: Accessibility) throws(VaultError) {
        let machine = accessibility.isThisDeviceOnly ? try MachineIdentity.read(path: Self.machineIDPath) : nil
        self.init(vaultID: vaultID, device: machine?.tag ?? [])
    }

    /// An entry with a value, wrapped under the class key of its accessibility.
    func entry(
        _ name: ItemName, label: some Collection<UInt8>, accessibility: Accessibility, createdAt: UInt64,
        modifiedAt: UInt64, value: UnsafeRawBufferPointer, under classKey: UnsafeRawBufferPointer
    ) -> ItemEntry {
        let bound = bound(name.service, name.account, accessibility)
        let nonce = SecureRandom.bytes(count: XChaCha20Poly1305.nonceSize)
        let size = value.count + XChaCha20Poly1305.tagSize
        let sealed = [UInt8](unsafeUninitializedCapacity: size) { output, count in
            count = size
            let output = UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: output[..<size]))
            withKey(classKey, accessibility) { key in
                nonce.withRawBytes { nonce in
                    bound.withRawBytes {
                        XChaCha20Poly1305.seal(value, associated: $0, nonce: nonce, key: key, into: output)
                    }
                }
            }
        }
        return ItemEntry(
            name, label: label, accessibility: accessibility, createdAt: createdAt, modifiedAt: modifiedAt,
            device: deviceMark(accessibility), wrappedValue: nonce + sealed)
    }

    /// Opens an entry's value into `output`, which has exactly its size.
    ///
    /// - Throws: `VaultError` `.wrongDevice` for a value that belongs to another machine, `.corrupt` for one that does
    ///   not fit its place; `output` holds no plaintext then.
    func open(
        _ entry: ItemEntry, under classKey: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer,
        path: String
    ) throws(VaultError) {
        try requireDevice(of: entry, path: path)
        let bound = bound(entry.service, entry.account, entry.accessibility)
        do throws(CryptoError) {
            try withKey(classKey, entry.accessibility) { key throws(CryptoError) in
                try entry.wrappedValue.span.withUnsafeBytes { wrapped throws(CryptoError) in
                    try bound.withRawBytes { bound throws(CryptoError) in
                        let nonceSize = XChaCha20Poly1305.nonceSize
                        try XChaCha20Poly1305.open(
                            UnsafeRawBufferPointer(rebasing: wrapped[nonceSize...]), associated: bound,
                            nonce: UnsafeRawBufferPointer(rebasing: wrapped[..<nonceSize]), key: key, into: output)
                    }
                }
            }
        } catch {
            throw VaultError(.corrupt, "read an item of", path, "The item's value does not fit its entry.")
        }
    }

    /// - Throws: `VaultError` `.wrongDevice`.
    func requireDevice(of entry: ItemEntry, path: String) throws(VaultError) {
        guard entry.device.elementsEqual(deviceMark(entry.accessibility)) else {
            throw VaultError(
                .wrongDevice, "read an item of", path, "The item's value belongs to the machine that it was added on.")
        }
    }

    /// Names this machine in the file without telling its tag, which the key hangs on.
    private func deviceMark(_ accessibility: Accessibility) -> [UInt8] {
        guard accessibility.isThisDeviceOnly else { return [UInt8](repeating: 0, count: ItemEntry.deviceSize) }
        return BLAKE2b.hash(vaultID + device, personalization: .itemDevice, count: ItemEntry.deviceSize)
    }

    private func withKey<Result, Failure: Error>(
        _ classKey: UnsafeRawBufferPointer, _ accessibility: Accessibility,
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let input = vaultID + (accessibility.isThisDeviceOnly ? device : [])
        return try ScratchMemory.withSecret(count: XChaCha20Poly1305.keySize) { key throws(Failure) in
            input.withRawBytes { BLAKE2b.hash($0, key: classKey, personalization: .itemKey, into: key) }
            return try body(UnsafeRawBufferPointer(key))
        }
    }

    private func bound(
        _ service: some Collection<UInt8>, _ account: some Collection<UInt8>, _ accessibility: Accessibility
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(vaultID)
        writer.append(accessibility.code)
        writer.append(UInt16(service.count))
        writer.append(service)
        writer.append(account)
        return writer.bytes
    }
}
