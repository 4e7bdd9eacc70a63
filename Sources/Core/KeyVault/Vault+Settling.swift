public import AppGroups
internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles

/// Completes unfinished work of other programs after an opening, and accepts a refused vault on request.
extension Vault {
    /// Writes the opened slot in its own form after a rekey, and with a memory of the team key once the vault has one.
    /// Completes a pending rekey. A vault that is not writable is used as it is; `rekeyFailure` and the access log
    /// state why a rekey was not completed.
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

    /// Returns whether the holder's memory code is from before the team key: a former person could continue the person
    /// key's chain.
    private func remembersOnlyPersonKey(_ opened: OpenedSlot) -> Bool {
        let contents = heldContents
        guard let team = contents.register?.teamKey, opened.slot.memoryCode != .zero else { return false }
        return !opened.slot.isRecognised(by: opened.holder, [team], vaultID: contents.vaultID)
    }

    /// Seals the root for the credential that opened the slot.
    func renewSlot() throws(VaultError) {
        guard let opened = keys.slot else { return }
        let id = opened.slot.id
        let isPersons = opened.slot.reach == .whenUnlocked
        try change(.slotRenewed, subject: Self.subject(id), needsPerson: isPersons) { draft throws(VaultError) in
            try draft.renew(opened, path: path)
        }
    }

    /// Accepts a vault that was refused: rolled back, replaced, or not accepted yet. It is written again, with a number
    /// above every write of it that this user's programs have seen.
    ///
    /// A person decides this after deliberately restoring an older copy, or after comparing the fingerprint with
    /// another user of the vault. Changes since an older copy are lost. A vault that was not refused is written again
    /// unchanged. Losses and damage of this user's watermarks are no longer reported. If the directory is not writable,
    /// this user's memory of the place gets the memory code instead of the slot; a rolled-back vault is refused there.
    /// - Parameters:
    ///   - accessGroup: The group of the vault.
    ///   - home: The home of the group's files.
    ///   - credential: The credential that opens the vault.
    ///   - fingerprint: The fingerprint that was compared: a vault with another one is not accepted. `nil` accepts the
    ///     present vault.
    ///   - options: The options of the vault.
    /// - Throws: `VaultError` `.replaced` for another fingerprint; as for `open` without the refusals that are
    ///   accepted.
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
            try place.memory.requireAccepted()
            return try open(accessGroup, in: home, with: credential, options: options)
        }
        if let pending {
            // A rekey is pending. Its completion takes the lock itself; then the vault is read again.
            accepting.expectedFingerprint = pending.fingerprint
            try pending.completeRekey()
            guard try acceptUnderLock(place, with: credential, accepting) == nil else {
                throw VaultError(
                    .lockTimeout, "accept the vault", place.path, "A rekey was started and is not completed.",
                    advice: "Try again.")
            }
        }
        try place.memory.requireAccepted()
        return try open(accessGroup, in: home, with: credential, options: options)
    }

    /// Opens the vault and writes it again, both under its lock and from one look at its files, so that the accepted
    /// vault is the one whose fingerprint was compared.
    ///
    /// - Returns: The vault if a rekey has to be completed first; nothing was written then.
    private static func acceptUnderLock(
        _ place: VaultPlace, with credential: VaultCredential, _ options: VaultOptions
    ) throws(VaultError) -> Vault? {
        guard let directory = try place.openDirectory() else { throw absent(place) }
        let lock = try VaultError.onFiles("accept the vault") { () throws(FileError) in
            try place.acquireLock(in: directory, options)
        }
        guard let vault = try openIfPresent(place, with: credential, options) else { throw absent(place) }
        if vault.heldContents.register?.nextRoot != nil, try vault.keys.reachesPerson() { return vault }
        try vault.writeAccepted(under: lock)
        return nil
    }

    /// Accepts a vault whose files this user cannot write: the holder's memory code goes into this user's memory of the
    /// place.
    ///
    /// - Returns: Whether the vault can be accepted this way: a rolled-back vault has to be written again.
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
        VaultError(.absent, "open the vault", place.path, "\(place.accessGroup) has no vault.")
    }

    /// Writes the opened vault, and then stores this user's memory of it.
    private func writeAccepted(under lock: borrowing HeldLock) throws(VaultError) {
        let contents = heldContents
        do throws(VaultError) {
            var draft = try acceptedDraft(of: contents)
            let roles: [CompartmentRole] = draft.person == nil ? [.service] : [.person, .service]
            try write(&draft, after: contents, under: lock, roles, .accepted, nil, isForced: true)
            guard fingerprint == contents.register?.fingerprint else {
                throw .replaced(path, "It was replaced in the meantime.")
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

    /// Returns the facts that a person compares before accepting a vault. It needs no credential, and the facts are
    /// unverified.
    ///
    /// - Throws: `VaultError` `.absent`, `.missing`, `.corrupt`, `.unsupported`, `.denied`, `.unsafeFile`, `.file`.
    public static func preview(_ accessGroup: AccessGroup, in home: GroupsHome) throws(VaultError) -> VaultPreview {
        let place = VaultPlace(accessGroup, in: home)
        guard let directory = try place.openDirectory(),
            let files = try VaultFiles.read(place, in: directory, memory: nil, team: nil), let register = files.register
        else { throw VaultError(.absent, "open the vault", place.path, "\(accessGroup) has no vault.") }
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
    /// Writes a slot again for the holder that opened it, with a memory of the vault's present key.
    mutating func renew(_ opened: OpenedSlot, path: String) throws(VaultError) {
        var compartment = opened.slot.reach == .whenUnlocked ? person : service
        guard let index = compartment?.slots.firstIndex(where: { $0.id == opened.slot.id }), var draft = compartment
        else { return }
        do throws(CryptoError) {
            try draft.slots[index].seal(
                draft.root, for: opened.holder, trusting: register.trustedKey, vaultID: vaultID)
        } catch {
            throw .corrupt(path, "Slot \(opened.slot.id) has a public key to which nothing can be sealed.")
        }
        compartment = draft
        set(draft)
    }

    /// Continues after the writes that a user's programs have seen, which may exceed those of these files.
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
    /// `true` if a change failed because the vault's directory belongs to others or is mounted read-only.
    fileprivate var meansUnwritable: Bool {
        code == .denied || underlying.map { [.permissionDenied, .readOnly].contains($0.code) } ?? false
    }
}
