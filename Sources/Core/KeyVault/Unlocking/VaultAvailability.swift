public import AppGroups
internal import CryptoPrimitives
internal import SharedFiles

/// The result of trying to open a vault without user interaction.
public enum VaultAvailability: String, Sendable, Hashable, CaseIterable {
    /// A key file, a system credential or the user's unlocking opens it.
    case ready
    /// The vault exists, and only a person can open it.
    case locked
    /// This user may not read it, or others have access that only its owner should have.
    case denied
    /// The vault does not exist.
    case absent
    /// This user's programs have opened a vault, and it, or one of its files, is missing.
    case missing
    /// Its file is damaged, or does not belong in its place.
    case damaged
    /// The vault or its persons are not those that this user's programs accept: the known team key has not certified
    /// them, or they do not succeed the remembered ones.
    case replaced
    /// The vault and the one that this user's programs remember continue the same state in two ways.
    case forked
    /// The vault is of an earlier state than this user's programs have seen, or than the roster accepts.
    case rolledBack

    /// Creates the availability that an error of opening implies.
    init?(_ code: VaultError.Code) {
        switch code {
        // A key file that is another vault's or damaged opens nothing: the vault itself is as it should be.
        // Slots that together cost too much to try need a person who knows which one to take.
        case .locked, .wrongKeyFile, .malformedKeyFile, .noCredential, .wrongCredential, .wrongPassphrase,
            .wrongIdentity, .tooCostly, .notAccepted:
            self = .locked
        case .denied, .unsafeFile: self = .denied
        case .absent: self = .absent
        case .missing: self = .missing
        case .corrupt, .wrongGroup, .isAnExport: self = .damaged
        case .replaced: self = .replaced
        case .forked: self = .forked
        case .rolledBack: self = .rolledBack
        default: return nil
        }
    }
}

extension Vault {
    /// Returns whether the vault could be opened now with `.automatic`.
    ///
    /// Has no side effects: nothing is created, written or logged, no password is hashed, and the user is not asked. It
    /// reads the file's front part only; damage further back is detected when the vault is opened, and so is a write
    /// older than one that this user's programs have seen in its period.
    /// - Throws: `VaultError` if no result applies: `.unsupported` for a vault of a newer version, `.file` when the
    ///   system failed.
    public static func availability(
        _ accessGroup: AccessGroup, in home: GroupsHome
    ) throws(VaultError) -> VaultAvailability {
        try look(at: VaultPlace(accessGroup, in: home)).availability
    }

    /// The view of a vault without opening it.
    struct UnopenedVault: Sendable {
        let availability: VaultAvailability
        /// `nil` if the files could not be read.
        let vaultID: [UInt8]?
        let slots: [SlotSummary]
        let generation: UInt64?
        let register: Register?
        /// `true` if no fault of the service compartment is known.
        var isServiceGood = true
    }

    /// Returns the memory, or its failure: the fingerprint is shown even with a damaged memory, for a person to
    /// compare.
    private static func remembered(of place: VaultPlace) -> (PlaceMemory?, VaultError?) {
        do throws(VaultError) { return (try place.memory.load(), nil) } catch { return (nil, error) }
    }

    /// Reads the fronts of the files, and tries the credentials that need no person.
    ///
    /// - Throws: `VaultError` if no result applies.
    static func look(at place: VaultPlace) throws(VaultError) -> UnopenedVault {
        var found = UnopenedVault(availability: .absent, vaultID: nil, slots: [], generation: nil, register: nil)
        do throws(VaultError) {
            let (memory, damage) = remembered(of: place)
            guard let directory = try place.openDirectory(),
                let files = try VaultFiles.read(
                    place, in: directory, memory: memory, team: KnownTeam(place: place, memory: memory))
            else {
                if let damage { throw damage }
                guard memory != nil else { return found }
                throw VaultError.missing(
                    place.path, "This user's programs have opened a vault there, and it is missing now.")
            }
            found = UnopenedVault(
                availability: .ready, vaultID: files.vaultID,
                slots: files.slots().sorted { $0.id < $1.id }.map { SlotSummary($0, in: files.register) },
                generation: files.service?.head.generation, register: files.register,
                isServiceGood: files.serviceFailure == nil)
            let opening = CredentialOpening(
                slots: files.slots(), vaultID: files.vaultID, register: files.register, place)
            if let failure = damage ?? files.serviceFailure { throw failure }
            let roots = try opening.open(with: .automatic)
            guard let root = roots.service, files.service?.head.isAuthentic(root) == true else {
                throw VaultError.corrupt(place.path, "Its header was changed without its key.")
            }
            return found
        } catch {
            guard let availability = VaultAvailability(error.code) else { throw error }
            return UnopenedVault(
                availability: availability, vaultID: found.vaultID, slots: found.slots, generation: found.generation,
                register: found.register, isServiceGood: found.isServiceGood)
        }
    }
}
