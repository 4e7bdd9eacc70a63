public import AppGroups
internal import CryptoPrimitives

/// Team keys: the offline key of a group that certifies person keys (`docs/spec/vault.md`, sections 5 and 10).
extension Vault {
    /// Certifies the vault's person key and names the team key in the vault. From then on a rekey that renews the
    /// person key needs the team key, and users who have seen it recognise the vault by it.
    ///
    /// A person does it once, and again after the team key has named a successor. The vault is opened although no team
    /// key has certified it yet, so compare the fingerprint first: all users accept a certified person key.
    /// - Parameters:
    ///   - accessGroup: The group of the vault.
    ///   - home: The home of the group's files.
    ///   - team: The team key.
    ///   - credential: A person's credential.
    ///   - fingerprint: The fingerprint that was compared; `nil` certifies the present vault.
    ///   - lostKey: The lost team key that the vault names and `team` replaces. It counts only if neither the program
    ///     nor the machine states the lost key. Users who know it refuse the vault until they accept it.
    ///   - options: The options of the vault.
    /// - Returns: The vault, with another fingerprint than before.
    /// - Throws: `VaultError` `.alreadyExists` if the key has certified it already; `.wrongTeamKey` for another key
    ///   than the known one; `.noRoster` if the group has a container and no roster of the key; `.replaced` for another
    ///   fingerprint, and for a person key not certified by a key that the vault names; `.locked` without a person;
    ///   `.denied` if the lost key is replaced and a memory of it in this user's other directory of memories remains;
    ///   those of opening and changing a vault.
    @discardableResult
    public static func certify(
        _ accessGroup: AccessGroup, in home: GroupsHome, by team: TeamKey,
        with credential: VaultCredential = .automatic,
        fingerprint: String? = nil, replacing lostKey: TeamPublicKey? = nil, options: VaultOptions = VaultOptions()
    ) throws(VaultError) -> Vault {
        var certifying = options
        certifying.isCertifying = true
        certifying.lostTeamKey = lostKey
        certifying.expectedFingerprint = fingerprint?.lowercased()
        let vault = try open(accessGroup, in: home, with: credential, options: certifying)
        let expected = vault.fingerprint
        try vault.change(.certified, needsPerson: true) { draft throws(VaultError) in
            guard draft.register.fingerprint == expected else {
                throw .replaced(vault.path, "It was changed after its fingerprint was compared.")
            }
            try draft.certify(by: team, certifying)
            if let opened = vault.keys.slot { try draft.renew(opened, path: vault.path) }
        }
        if let lostKey {
            // The other directory's memory of the lost key would contradict its successor.
            vault.place.memory.forget(lostKey)
            try vault.place.memory.requireAccepted()
        }
        return try open(accessGroup, in: home, with: credential, options: options)
    }
}

extension AccessEvent {
    /// The team key certified the person key.
    public static let certified = AccessEvent(rawValue: 37)
}

extension VaultDraft {
    /// Returns the certificate of a new person key, and names the team key in the register.
    mutating func certificate(of key: Ed25519.PublicKey, period: UInt32) throws(VaultError) -> [UInt8] {
        let memory = isNew ? place.memory.ofFormerVault() : try place.memory.load()
        let certificate = try KnownTeam(place: place, memory: memory).certificate(
            of: key, vaultID: vaultID, period: period, vault: register.team, by: certifier)
        if let certifier { register.teamKey = certifier.publicKey.key.bytes }
        return certificate
    }

    /// Certifies the person key in force.
    fileprivate mutating func certify(by team: TeamKey, _ options: VaultOptions) throws(VaultError) {
        guard hasPersons, person != nil, var last = register.chain.last else {
            throw VaultError(
                .locked, "certify the persons of", place.path, "None of its key slots belongs to a person.",
                advice: "Add the first one with the team key: sealctl vault slot add --team-key FILE.")
        }
        if register.team == team.publicKey, last.isCertified(by: team.publicKey, vaultID: vaultID) {
            throw VaultError(
                .alreadyExists, "certify the persons of", place.path, "This team key has certified them already.",
                advice: "Nothing needs to be done.")
        }
        // The opening has checked the key that the vault names: no key, or a former one.
        let known = KnownTeam(place: place, memory: try place.memory.load(), options)
        last.certificate = try known.certificate(
            of: last.key, vaultID: vaultID, period: last.period, vault: register.team, by: team)
        register.chain[register.chain.endIndex - 1] = last
        register.teamKey = team.publicKey.key.bytes
    }
}
