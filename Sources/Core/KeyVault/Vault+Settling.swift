public import AppGroups
internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles

/// Finishing what others left, after an opening; and accepting a vault on purpose.
extension Vault {
    /// Writes the opened slot in its own form after a rekey, and with a memory of the team key once there is one; completes
    /// a rekey that was begun. A vault that cannot be written is used as it is; `rekeyFailure` and the access log say why a
    /// rekey was not completed.
    func settle() throws(VaultError) {
        if heldContents.register?.nextRoot != nil {
            do throws(VaultError) { try completeRekey() } catch {
                rekeyFailure = error
                note(.rekeyed, outcome: error.code.outcome)
            }
        }
        guard let opened = keys.slot else { return }
        if opened.slot.form == .resealed || remembersOnlyPersonKey(opened) { try? renewSlot() }
    }

    /// Whether the holder's memory code is from before the team key: a former person could continue that key's chain.
    private func remembersOnlyPersonKey(_ opened: OpenedSlot) -> Bool {
        let contents = heldContents
        guard let team = contents.register?.teamKey, opened.slot.memoryCode != .zero else { return false }
        return !opened.slot.isRecognised(by: opened.holder, [team], vaultID: contents.vaultID)
    }

    /// Seals the root for the credential that has just opened the slot.
    func renewSlot() throws(VaultError) {
        guard let opened = keys.slot else { return }
        let id = opened.slot.id
        let isPersons = opened.slot.reach == .whenUnlocked
        try change(.slotRenewed, subject: Self.subject(id), needsPerson: isPersons) { draft throws(VaultError) in
            try draft.renew(opened, path: path)
        }
    }

    /// Goes on with a vault that was refused: rolled back, replaced, or not accepted yet. It is written anew, beyond every
    /// write that this user's programs have seen of it.
    ///
    /// A person decides this: after an older copy was restored on purpose, or after comparing the fingerprint with one who
    /// shares the vault. Changes since an older copy are lost. A vault that was not refused is written anew as it is. Losses
    /// and damage of this user's watermarks are no longer reported. In a directory that cannot be written this user's memory
    /// of the place gets the memory code instead of the slot; a vault that was rolled back is refused there.
    /// - Parameter fingerprint: The fingerprint that was compared: a vault with another one is not accepted. Nil accepts
    ///   the vault that is there.
    /// - Throws: `VaultError` `.replaced` for another fingerprint; as for `open` without the refusals that are accepted.
    @discardableResult
    public static func accept(
        _ accessGroup: AccessGroup, in home: GroupsHome, with credential: VaultCredential = .automatic,
        fingerprint: String? = nil, options: VaultOptions = VaultOptions()
    ) throws(VaultError) -> Vault {
        try options.requireEntitlement(to: accessGroup)
        let place = VaultPlace(accessGroup, in: home, teamKey: options.teamKey)
        var accepting = options
        accepting.acceptsRollback = true
        accepting.isTentative = true
        accepting.expectedFingerprint = fingerprint?.lowercased()
        let pending: Vault?
        do throws(VaultError) { pending = try acceptUnderLock(place, with: credential, accepting) } catch {
            guard error.meansUnwritable, try acceptUnwritten(place, with: credential, accepting) else { throw error }
            return try open(accessGroup, in: home, with: credential, options: options)
        }
        if let pending {
            // A rekey was begun. Its completion takes the lock itself; then the vault is looked at anew.
            accepting.expectedFingerprint = pending.fingerprint
            try pending.completeRekey()
            guard try acceptUnderLock(place, with: credential, accepting) == nil else {
                throw VaultError(
                    .lockTimeout, "accept the vault", place.path, "A rekey was begun and is not completed.",
                    advice: "Try again.")
            }
        }
        return try open(accessGroup, in: home, with: credential, options: options)
    }

    /// Opens the vault and writes it anew, both under its lock and from one look at its files: the vault that is
    /// accepted is the one whose fingerprint was compared.
    ///
    /// - Returns: The vault where a rekey has to be completed before; nothing was written then.
    private static func acceptUnderLock(
        _ place: VaultPlace, with credential: VaultCredential, _ options: VaultOptions
    ) throws(VaultError) -> Vault? {
        guard let directory = try place.openDirectory() else { throw absent(place) }
        let lock = try VaultError.onFiles("accept the vault") { () throws(FileError) in
            try place.lockFile(in: directory).acquire(.whole, .exclusive, timeout: options.lockTimeout)
        }
        guard let vault = try openIfPresent(place, with: credential, options) else { throw absent(place) }
        if vault.heldContents.register?.nextRoot != nil, try vault.keys.reachesPerson() { return vault }
        try vault.writeAccepted(under: lock)
        return nil
    }

    /// Accepts a vault whose files this user cannot write: this user's memory of the place gets the holder's memory code.
    ///
    /// - Returns: Whether the vault can be accepted so: one that was rolled back has to be written anew.
    private static func acceptUnwritten(
        _ place: VaultPlace, with credential: VaultCredential, _ options: VaultOptions
    ) throws(VaultError) -> Bool {
        guard let vault = try openIfPresent(place, with: credential, options) else { throw absent(place) }
        let contents = vault.heldContents
        guard let register = contents.register, register.nextRoot == nil,
            contents.accept(vault.watermarks, accessGroup: place.accessGroup).isGood
        else { return false }
        let code = vault.keys.slot.flatMap { opened in
            register.trustedKey.map { opened.holder.memoryCode(vaultID: contents.vaultID, trusted: $0) }
        }
        contents.remember(nil, in: place, vault.keys.service, memoryCode: code, isAccepted: true)
        return true
    }

    private static func absent(_ place: VaultPlace) -> VaultError {
        VaultError(.absent, "open the vault", place.path, "There is none for \(place.accessGroup).")
    }

    /// Writes the vault that was opened, and then stores what this user remembers of it.
    private func writeAccepted(under lock: borrowing HeldLock) throws(VaultError) {
        let contents = heldContents
        do throws(VaultError) {
            var draft = try acceptedDraft(of: contents)
            let roles: [CompartmentRole] = draft.person == nil ? [.service] : [.person, .service]
            try write(&draft, after: contents, under: lock, roles, .accepted, nil, isForced: true)
            guard fingerprint == contents.register?.fingerprint else {
                throw .replaced(path, "It was replaced meanwhile.")
            }
        } catch {
            if error.code != .durabilityUnknown { note(.accepted, outcome: error.code.outcome) }
            throw error.code == .locked ? error.explained(for: contents) : error
        }
        heldContents.remember(nil, in: place, keys.service, isAccepted: true)
        try VaultError.onFiles("accept the losses of the watermarks of") { () throws(FileError) in
            try watermarks.acceptLosses()
        }
    }

    private func acceptedDraft(of contents: VaultContents) throws(VaultError) -> VaultDraft {
        let (root, slotID) = (keys.service, keys.slotID)
        var draft: VaultDraft
        if contents.register?.person != nil, try keys.reachesPerson() {
            draft = try keys.withPerson { person throws(VaultError) in
                let opened = try contents.person(person, place: place)
                return try VaultDraft(contents, root: root, person: (person, opened), slotID: slotID, place: place)
            }
            if let failure = draft.serviceFailure { throw failure }
        } else {
            draft = try VaultDraft(contents, root: root, person: nil, slotID: slotID, place: place)
        }
        draft.goBeyond(watermarks)
        if let opened = keys.slot, opened.slot.reach == .afterFirstUnlock || draft.person != nil {
            try draft.renew(opened, path: path)
        }
        return draft
    }

    /// What a person compares before accepting a vault. Needs no credential, and nothing in it is believed.
    ///
    /// - Throws: `VaultError` `.absent`, `.missing`, `.corrupt`, `.unsupported`, `.denied`, `.unsafeFile`, `.file`.
    public static func preview(_ accessGroup: AccessGroup, in home: GroupsHome) throws(VaultError) -> VaultPreview {
        let place = VaultPlace(accessGroup, in: home)
        guard let directory = try place.openDirectory(),
            let files = try VaultFiles.read(place, in: directory, memory: nil, team: nil), let register = files.register
        else { throw VaultError(.absent, "open the vault", place.path, "There is none for \(accessGroup).") }
        try register.verify(path: place.path)
        return VaultPreview(
            vaultID: files.vaultID.withUnsafeBytes { $0.hexadecimal }, fingerprint: register.fingerprint,
            period: register.period, slots: files.slots().map { SlotSummary($0, in: register) })
    }
}

/// The public facts of a vault, for a person to compare.
public struct VaultPreview: Sendable, Hashable {
    /// 32 hexadecimal digits.
    public let vaultID: String
    /// 32 hexadecimal digits over the vault's id and the key that vouches for it.
    public let fingerprint: String
    /// The number of rekeys, from 1.
    public let period: UInt32
    /// The slots that the register lists.
    public let slots: [SlotSummary]
}

extension VaultDraft {
    /// Writes a slot again for the holder who opened it, with a memory of the vault as it is now.
    mutating func renew(_ opened: OpenedSlot, path: String) throws(VaultError) {
        var compartment = opened.slot.reach == .whenUnlocked ? person : service
        guard let index = compartment?.slots.firstIndex(where: { $0.id == opened.slot.id }), var draft = compartment
        else { return }
        do throws(CryptoError) {
            try draft.slots[index].seal(
                draft.root, for: opened.holder, trusting: register.trustedKey, vaultID: vaultID)
        } catch {
            throw .corrupt(path, "Slot \(opened.slot.id) has a public key that cannot be sealed to.")
        }
        compartment = draft
        set(draft)
    }

    /// Continues after the writes that a user's programs have seen, which may be more than these files had.
    mutating func goBeyond(_ watermarks: WatermarkTable) {
        watermarks.refresh()
        func seen(_ role: CompartmentRole, _ period: UInt32) -> UInt64 {
            let tag = PartSealing.context(place.accessGroup.identifier, role, period: period, .state).nameTag
            return min(watermarks.mark(of: tag)?.sequence ?? 0, CompartmentHead.maximumGeneration - 1)
        }
        service.generation = max(service.generation, seen(.service, service.period))
        if let person { self.person?.generation = max(person.generation, seen(.person, person.period)) }
    }
}

extension VaultError {
    /// Whether a change failed because the vault's directory belongs to others or is mounted read-only.
    fileprivate var meansUnwritable: Bool {
        code == .denied || underlying.map { [.permissionDenied, .readOnly].contains($0.code) } ?? false
    }
}
