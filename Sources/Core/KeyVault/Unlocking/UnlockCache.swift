internal import Sealing

/// A place where the keys of an unlocked vault stay for other programs of the same user, until the machine restarts at the
/// latest; never on a disk.
///
/// It keeps small byte strings by name and knows nothing of what is in them (`UnlockTicket`). Every conforming type passes
/// the suite in `Tests/KeyVaultTests/Unlocking`.
protocol UnlockCache: Sendable {
    /// Which one it is, for people.
    var place: UnlockPlace { get }

    /// Whether tickets can be kept here at all. Makes nothing.
    var isUsable: Bool { get }

    /// Keeps a ticket in the place of the one with that name. Others see the old one or the new one.
    ///
    /// - Parameter lifetime: After that much time the system may drop it by itself; nil keeps it.
    /// - Throws: `VaultError` `.noUnlockCache` where this cache does not work here, `.unsafeFile` or `.file`.
    func store(
        _ ticket: UnsafeRawBufferPointer, as name: UnlockName, for lifetime: Duration?
    ) throws(VaultError)

    /// Copies a ticket into the buffer and answers its size; nil when there is none, or only one that does not fit.
    ///
    /// - Throws: As `store`.
    func read(_ name: UnlockName, into buffer: UnsafeMutableRawBufferPointer) throws(VaultError) -> Int?

    /// Forgets a ticket; it is no error when there is none.
    ///
    /// - Throws: As `store`.
    func remove(_ name: UnlockName) throws(VaultError)

    /// Wipes a ticket that is over, if the system does not do so by itself. One that holds, or none, is left alone.
    func wipeExpired(_ name: UnlockName)
}

/// Where the keys of an unlocked vault stay.
public enum UnlockPlace: String, Sendable, Hashable, CustomStringConvertible {
    /// The kernel's keyring of the user, keyrings(7).
    case kernelKeyring
    /// A file of mode 0600 below `$XDG_RUNTIME_DIR`, where that is in memory.
    case runtimeFile

    /// Words for a person.
    public var description: String {
        switch self {
        case .kernelKeyring: "the kernel's user keyring"
        case .runtimeFile: "a file in the user's runtime directory"
        }
    }
}

/// The name of one ticket: a vault's id and a class of keys. One vault has two.
struct UnlockName: Sendable, Hashable {
    let vaultID: [UInt8]
    let protection: ProtectionClass
    /// Safe as a file name and as a key's description. Made once: caches are asked at each use of a key.
    let text: String

    init(vaultID: [UInt8], _ protection: ProtectionClass) {
        self.vaultID = vaultID
        self.protection = protection
        let id = vaultID.withUnsafeBytes { $0.hexadecimal }
        text = "sealedstate-\(id)-\(protection == .whenUnlocked ? "when-unlocked" : "after-first-unlock")"
    }
}

extension VaultError {
    /// This cache does not work here; the next one is asked.
    static func noUnlockCache(_ place: UnlockPlace, _ reason: String) -> VaultError {
        VaultError(
            .noUnlockCache, "keep the vault unlocked in", place.description, reason,
            advice:
                "Set XDG_RUNTIME_DIR to a directory of your own in memory (a tmpfs, mode 0700), or open the vault with "
                + "its credential each time.")
    }
}
