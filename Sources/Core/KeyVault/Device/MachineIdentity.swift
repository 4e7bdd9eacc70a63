internal import CryptoPrimitives
internal import SharedFiles

extension Personalization {
    /// The tag of a machine (no key); `docs/vault.md` lists it.
    static let machineIdentity = Personalization("SealedState.mid1")
}

/// Which installation this is, for what must not be of use on another machine.
///
/// A hash of `/etc/machine-id`, since machine-id(5) asks not to show the id itself. It protects from accidents, such as a
/// restored backup, not from thieves: every program on the machine can read the id.
struct MachineIdentity: Hashable, Sendable {
    static let size = 16
    static let path = "/etc/machine-id"
    private static let idSize = 32

    /// 16 bytes that other machines do not have. They are shown to nobody.
    let tag: [UInt8]

    /// Reads the machine's id.
    ///
    /// - Throws: `VaultError` `.noMachineIdentity` where there is none: an image that has never started, or a container.
    static func read(path: String = path) throws(VaultError) -> MachineIdentity {
        let text = try contents(path)
        let id = text.last == UInt8(ascii: "\n") ? text.dropLast() : text[...]
        guard id.count == idSize, id.allSatisfy(\.isLowerHexDigit), id.contains(where: { $0 != UInt8(ascii: "0") })
        else {
            throw .noMachineIdentity(path, "It does not hold 32 hexadecimal digits.")
        }
        return MachineIdentity(
            tag: BLAKE2b.hash(Array(id), personalization: .machineIdentity, count: size))
    }

    /// Of a longer file only as much as shows that it is too long.
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
    /// This machine has no id that something could be bound to.
    public static let noMachineIdentity = VaultError.Code(rawValue: "noMachineIdentity")
}

extension VaultError {
    fileprivate static func noMachineIdentity(_ path: String, _ reason: String) -> VaultError {
        VaultError(
            .noMachineIdentity, "bind something to this machine by", path, reason,
            advice:
                "Give the machine an id: systemd-machine-id-setup, or choose an accessibility without ThisDeviceOnly.")
    }
}
