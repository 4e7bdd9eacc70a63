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
        // Slots that together cost too much to try need a person who knows which one to take.
        case .locked, .wrongKeyFile, .malformedKeyFile, .noCredential, .wrongCredential, .wrongPassphrase,
            .wrongIdentity, .tooCostly:
            self = .locked
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

    /// Opens the front part as far as it goes without a person, and lends what came of it, once.
    ///
    /// - Parameter body: Gets the header where it could be read, and the root where something at hand opens it.
    static func look<Result>(
        at place: VaultPlace,
        _ body: (VaultAvailability, VaultHeader?, UnsafeRawBufferPointer?) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        let found = try find(at: place)
        let (availability, header) = (found.availability, found.header)
        guard let secrets = found.takeSecrets() else { return try body(availability, header, nil) }
        return try secrets.root.withUnsafeBytes { root throws(VaultError) in try body(availability, header, root) }
    }

    private struct Finding: ~Copyable {
        let availability: VaultAvailability
        let header: VaultHeader?
        /// Where something at hand opens the vault.
        let secrets: VaultSecrets?

        consuming func takeSecrets() -> VaultSecrets? { secrets }
    }

    /// - Throws: `VaultError` where none of the answers is true.
    private static func find(at place: VaultPlace) throws(VaultError) -> Finding {
        var header: VaultHeader?
        do throws(VaultError) {
            guard let directory = try place.openDirectory(), let file = try VaultFile.open(in: directory) else {
                return Finding(availability: .absent, header: nil, secrets: nil)
            }
            header = file.head.header
            let secrets = try secretsAtHand(file.head, place)
            return Finding(availability: .ready, header: header, secrets: secrets)
        } catch {
            guard let availability = VaultAvailability(error.code) else { throw error }
            return Finding(availability: availability, header: header, secrets: nil)
        }
    }

    private static func secretsAtHand(_ head: VaultHead, _ place: VaultPlace) throws(VaultError) -> VaultSecrets {
        guard head.header.purpose == .vault else {
            throw VaultError(.isAnExport, "open the vault", place.path, "It is a backup, not a vault in use.")
        }
        let secrets = try unlock(head, place, with: .automatic)
        guard VaultHeader.isAuthentic(head, root: secrets.root) else {
            throw VaultError.corrupt(place.path, "Its header was changed by somebody without a key.")
        }
        return secrets
    }
}
