public import AppGroups
internal import CryptoPrimitives
internal import SharedFiles

/// Whether a vault could be opened now without asking anybody.
public enum VaultAvailability: String, Sendable, Hashable, CaseIterable {
    /// A key file, a system credential or the user's unlocking opens it.
    case ready
    /// There is one, and it takes a person to open it.
    case locked
    /// This user may not read it, or others may reach what only its owner should.
    case denied
    /// There is none.
    case absent
    /// Its file is damaged, or not what belongs in its place.
    case damaged

    /// What an error of opening means.
    init?(_ code: VaultError.Code) {
        switch code {
        // A key file that is another vault's or damaged opens nothing: the vault itself is as it should be.
        case .locked, .wrongKeyFile, .malformedKeyFile, .noCredential, .wrongPassphrase, .wrongIdentity: self = .locked
        case .denied, .unsafeFile: self = .denied
        case .absent: self = .absent
        case .corrupt, .wrongGroup, .isAnExport: self = .damaged
        default: return nil
        }
    }
}

extension Vault {
    /// Whether the vault could be opened now with `.automatic`.
    ///
    /// Has no side effects: nothing is made, written or logged, no password is hashed, and nobody is asked. It looks at the
    /// file's front part only; damage further back shows when the vault is opened.
    /// - Throws: `VaultError` where none of the answers is true: `.unsupported` for a vault of a newer version, `.file`
    ///   when the system failed.
    public static func availability(
        _ accessGroup: AccessGroup, in home: GroupsHome
    ) throws(VaultError) -> VaultAvailability {
        try look(at: VaultPlace(accessGroup, in: home)) { (availability, _, _) in availability }
    }

    /// Opens the front part as far as it goes without a person, and lends what came of it.
    ///
    /// - Parameter body: Gets the header where it could be read, and the root where something at hand opens it.
    static func look<Result>(
        at place: VaultPlace,
        _ body: (VaultAvailability, VaultHeader?, UnsafeRawBufferPointer?) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        var header: VaultHeader?
        do throws(VaultError) {
            guard let directory = try place.openDirectory(), let file = try VaultFile.open(in: directory) else {
                return try body(.absent, nil, nil)
            }
            header = file.head.header
            let secrets = try secretsAtHand(file.head, place)
            return try secrets.root.withUnsafeBytes { root throws(VaultError) in try body(.ready, header, root) }
        } catch {
            guard let availability = VaultAvailability(error.code) else { throw error }
            return try body(availability, header, nil)
        }
    }

    private static func secretsAtHand(_ head: VaultHead, _ place: VaultPlace) throws(VaultError) -> VaultSecrets {
        guard head.header.purpose == .vault else {
            throw VaultError(.isAnExport, "open the vault", place.path, "It is a backup, not a vault in use.")
        }
        let secrets = try unlock(head.header, place, with: .automatic)
        guard VaultHeader.isAuthentic(head, root: secrets.root) else {
            throw VaultError.corrupt(place.path, "Its header was changed by somebody without a key.")
        }
        return secrets
    }
}
