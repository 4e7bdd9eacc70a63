internal import CryptoPrimitives
internal import SharedFiles

extension Personalization {
    /// The tag of a machine (no key); `docs/spec/vault.md` lists it.
    static let machineIdentity = Personalization("SealedState.mid1")
}

/// The identity of this installation, for values that must not be usable on another machine.
///
/// It is a hash of `/etc/machine-id`, because machine-id(5) asks not to expose the id itself. It protects against
/// accidents, such as a restored backup, not against thieves: every program on the machine can read the id.
struct MachineIdentity: Hashable, Sendable {
    static let size = 16
    static let path = "/etc/machine-id"
    private static let idSize = 32

    /// 16 bytes that differ between machines. They are never shown.
    let tag: [UInt8]

    /// Reads the machine's id.
    ///
    /// - Throws: `VaultError` `.noMachineIdentity` without an id: in an image that has never started, or a container.
    static func read(path: String = path) throws(VaultError) -> MachineIdentity {
        let text = try contents(path)
        let id = text.last == UInt8(ascii: "\n") ? text.dropLast() : text[...]
        guard id.count == idSize, id.allSatisfy(\.isLowerHexDigit), id.contains(where: { $0 != UInt8(ascii: "0") })
        else {
            throw .noMachineIdentity(path, "It does not consist of 32 hexadecimal digits.")
        }
        return MachineIdentity(
            tag: BLAKE2b.hash(Array(id), personalization: .machineIdentity, count: size))
    }

    /// Reads only enough of a longer file to show that it is too long.
    private static func contents(_ path: String) throws(VaultError) -> [UInt8] {
        var failure: FileError?
        let text = [UInt8](unsafeUninitializedCapacity: idSize + 2) { buffer, count in
            let space = UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: idSize + 2)
            do throws(FileError) {
                count = try Descriptor.openForReading(path: path).read(into: space)
            } catch {
                failure = error
            }
        }
        if let failure { throw .noMachineIdentity(path, failure.sentence) }
        return text
    }
}

extension VaultError.Code {
    /// This machine has no id to bind a value to.
    public static let noMachineIdentity = VaultError.Code(rawValue: "noMachineIdentity")
}

extension VaultError {
    fileprivate static func noMachineIdentity(_ path: String, _ reason: String) -> VaultError {
        VaultError(
            .noMachineIdentity, "bind an item to this machine by", path, reason,
            advice:
                "Set a machine id with systemd-machine-id-setup, or choose an accessibility without ThisDeviceOnly."
        )
    }
}
