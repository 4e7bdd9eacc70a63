internal import Sealing

/// A store in which the keys of an unlocked vault stay for other programs of the same user, until the machine restarts
/// at the latest; never on a disk.
///
/// It stores small byte strings by name, independent of their contents (`UnlockTicket`). Every conforming type passes
/// the suite in `Tests/KeyVaultTests/Unlocking`.
protocol UnlockCache: Sendable {
    /// The place of the store, for users.
    var place: UnlockPlace { get }

    /// `true` if tickets can be stored here at all. Reading it creates nothing.
    var isUsable: Bool { get }

    /// Stores a ticket, or replaces the one of that name. Other programs see the old one or the new one.
    ///
    /// - Parameter lifetime: The time after which the system may drop it; `nil` for no limit.
    /// - Throws: `VaultError` `.noUnlockCache` if this cache does not work here, `.unsafeFile` or `.file`.
    func store(
        _ ticket: UnsafeRawBufferPointer, as name: UnlockName, for lifetime: Duration?
    ) throws(VaultError)

    /// Copies a ticket into the buffer and returns its size; `nil` if there is no ticket, or only one that does not
    /// fit.
    ///
    /// - Throws: As `store`.
    func read(_ name: UnlockName, into buffer: UnsafeMutableRawBufferPointer) throws(VaultError) -> Int?

    /// Removes a ticket; a missing ticket is no error.
    ///
    /// - Throws: As `store`.
    func remove(_ name: UnlockName) throws(VaultError)

    /// Wipes an expired ticket, if the system does not do so itself. A valid or missing ticket is left alone.
    func wipeExpired(_ name: UnlockName)
}

/// The place where the keys of an unlocked vault are stored.
public enum UnlockPlace: String, Sendable, Hashable, CustomStringConvertible {
    /// The kernel's keyring of the user, keyrings(7).
    case kernelKeyring
    /// A file of mode 0600 below `$XDG_RUNTIME_DIR`, if that is in memory.
    case runtimeFile

    /// Text for users.
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
    /// Safe as a file name and as a key's description. Computed once, because caches are read at each use of a key.
    let text: String

    init(vaultID: [UInt8], _ protection: ProtectionClass) {
        self.vaultID = vaultID
        self.protection = protection
        let id = vaultID.withUnsafeBytes { $0.hexadecimal }
        text = "sealedstate-\(id)-\(protection == .whenUnlocked ? "when-unlocked" : "after-first-unlock")"
    }
}

extension VaultError {
    /// Returns the error for a cache that does not work here; the next one is tried.
    static func noUnlockCache(_ place: UnlockPlace, _ reason: String) -> VaultError {
        VaultError(
            .noUnlockCache, "keep the vault unlocked in", place.description, reason,
            advice:
                "Set XDG_RUNTIME_DIR to a directory of your own in memory (a tmpfs, mode 0700), or open the vault with "
                + "its credential each time.")
    }
}
