internal import CryptoPrimitives
internal import Glibc
internal import Sealing
internal import SharedFiles

/// Rekeying: new roots, so that former members lose access to everything written afterwards (`docs/spec/vault.md`,
/// section 11).
extension Vault {
    /// Begins a new period: replaces the roots, reseals every remaining slot to its holder's public key, wraps all keys
    /// again, and begins a rotation.
    ///
    /// Removing a service renews only the service root; removing a person renews both. A former member who can still
    /// write the container can plant blobs of the old epochs until the rotation is completed (`SealedStore.rotate`):
    /// only then is the removal final.
    ///
    /// The contents of a service compartment never prevent a rekey by persons: contents that do not open or do not fit
    /// are left out and reported, and a file that others may write or read gets a successor of the right mode. A
    /// compartment that does not open as a whole, or is older than one that was seen, needs
    /// `RekeyOptions.rebuildsServices`.
    /// A pending rekey is completed first. If only an older compartment or its index of items prevents that,
    /// `rebuildsServices` completes it with the available contents, and begins another only if the options ask for a
    /// change.
    /// - Parameters:
    ///   - rekeying: The slots to remove and to keep, and the confirmations of the caller.
    ///   - team: The team key, if one is known and persons get a new person key. A rekey that keeps theirs does not
    ///     need it.
    /// - Returns: The removed and the kept slots. The call is complete: all files are written.
    /// - Throws: `VaultError` `.teamKeyNeeded` or `.wrongTeamKey` before anything is changed; `.slotNotFound`;
    ///   `.lastSlot`; `.unvouchedSlots` if slots that no person vouched for would stay and are not named; `.locked` in
    ///   a vault with persons that is locked; `.invalidArgument` if a service compartment that opens would be given up,
    ///   `.denied` if its owner has no right to read it; those of every change.
    @discardableResult
    public func rekey(
        _ rekeying: RekeyOptions = RekeyOptions(), certifiedBy team: TeamKey? = nil
    ) throws(VaultError) -> RekeyReport {
        // Read once: the files show a rekey that another program left.
        try reload()
        let before = try completion(before: rekeying)
        if before.givesUp, rekeying.removing.isEmpty, !rekeying.renewsPersons {
            return report(before.outcome, removed: [])
        }
        let lock = try lockForChange()
        let contents = try contentsForRekey(givingUp: rekeying.rebuildsServices)
        var draft = try self.draft(of: contents, for: rekeying, after: before)
        draft.certifier = team
        let summaries = contents.slotSummaries
        let plan = try RekeyPlan(draft, rekeying)
        do throws(VaultError) { try plan.begin(&draft) } catch {
            throw advisingRebuild(ofContents: error)
        }
        try VaultError.onFiles("rekey") { () throws(FileError) in
            try directory.requireSpace(contents.rekeySize, "rekey")
        }
        var outcome = RekeyOutcome()
        do throws(VaultError) {
            outcome.isLogged = try write(plan, &draft, after: contents, under: lock)
        } catch {
            if error.code != .durabilityUnknown { note(.rekeyed, outcome: error.code.outcome) }
            throw error
        }
        outcome.losses = draft.service.losses
        try? keys.shareAgain(person: draft.person?.root)
        return report(
            before.outcome.followed(by: outcome), removed: summaries.filter { rekeying.removing.contains($0.id) })
    }

    /// Returns the most bytes that a rekey takes at any time in addition to the vault's own.
    ///
    /// - Throws: `VaultError` as `current()`.
    public func rekeySize() throws(VaultError) -> Int64 { try current().rekeySize }

    /// The result of completing another program's pending rekey.
    private struct Completion {
        var outcome = RekeyOutcome()
        /// The reason why it could not be completed.
        var obstacle: VaultError?

        /// `true` if it was completed without some contents of *after first unlock*.
        var givesUp: Bool { outcome.losses.isItemIndexLost || outcome.losses.isCompartmentOlder }
    }

    private func completion(before rekeying: RekeyOptions) throws(VaultError) -> Completion {
        var completion = Completion()
        do throws(VaultError) {
            completion.outcome = try completeRekey(
                givingUp: rekeying.rebuildsServices, atMost: rekeying.confirmedLosses)
        } catch {
            guard rekeying.rebuildsServices, error.code != .lockTimeout else { throw error }
            completion.obstacle = error
        }
        return completion
    }

    private func report(_ outcome: RekeyOutcome, removed: [SlotSummary]) -> RekeyReport {
        RekeyReport(
            period: period, removed: removed, kept: heldContents.slotSummaries, losses: outcome.losses,
            isLogged: outcome.isLogged, writableDirectories: writableDirectories)
    }

    /// Returns the report of an earlier rekey, for a caller that continues with its rotation: no slots are removed.
    ///
    /// - Throws: `VaultError` as `current()`.
    public func reportAfterRekey() throws(VaultError) -> RekeyReport {
        _ = try current()
        return report(RekeyOutcome(isLogged: unloggedChangeCount == 0), removed: [])
    }

    /// Returns the draft of a new period, with a fresh service compartment if requested.
    private func draft(
        of contents: VaultContents, for rekeying: RekeyOptions, after before: Completion
    ) throws(VaultError) -> VaultDraft {
        let rebuilds = rekeying.rebuildsServices && !before.givesUp
        guard contents.register?.nextRoot == nil || rebuilds else {
            throw VaultError(
                .lockTimeout, "rekey", path, "Another rekey was started and is not completed.",
                advice: "Unlock the vault and try again.")
        }
        var draft = try rekeyDraft(of: contents)
        if rebuilds {
            try rebuildServices(&draft, contents, after: before.obstacle)
            try requireConfirmed(draft.service.losses, rekeying.confirmedLosses)
        }
        try requireService(draft)
        for id in rekeying.removing { try requireSlot(id, in: draft.register) }
        guard rekeying.confirmed?.isSuperset(of: contents.slotSummaries.map(\.id)) ?? true else {
            throw VaultError(
                .lockTimeout, "rekey", path, "A slot was added after its slots were confirmed.", advice: "Try again.")
        }
        return draft
    }

    /// Runs the writes of a rekey.
    ///
    /// - Returns: Whether the access log has an entry for each.
    private func write(
        _ plan: RekeyPlan, _ draft: inout VaultDraft, after contents: VaultContents, under lock: borrowing HeldLock
    ) throws(VaultError) -> Bool {
        guard draft.hasPersons else {
            if draft.isRebuilt { draft.service.losses.setAside = try setServiceAside(draft) }
            return try write(&draft, after: contents, under: lock, [.service], .rekeyed, nil, isForced: true)
        }
        let isLogged = try write(
            &draft, after: contents, under: lock, [.person], .rekeyed, nil, isForced: true, publishing: false)
        try? keys.shareAgain(person: draft.person?.root)
        if draft.isRebuilt { draft.service.losses.setAside = try setServiceAside(draft) }
        // The following writes begin the new log: both files note its head.
        if draft.service.losses.isCompartmentLost { try followLogKeys(of: draft) }
        return try finish(plan, &draft, after: contents, under: lock) && isLogged
    }

    /// Runs the second and the third write.
    ///
    /// - Returns: Whether the access log has an entry for each.
    private func finish(
        _ plan: RekeyPlan, _ draft: inout VaultDraft, isSecondWritten: Bool = false, after contents: VaultContents,
        under lock: borrowing HeldLock
    ) throws(VaultError) -> Bool {
        var isLogged = true
        try plan.finish(
            &draft, isSecondWritten: isSecondWritten,
            write: { draft, role throws(VaultError) in
                let isEntered = try self.write(
                    &draft, after: contents, under: lock, [role], .rekeyed, nil, isForced: true,
                    publishing: role == .person)
                isLogged = isLogged && isEntered
                // From here on services have the new log key and use it: no entry under the former one may follow.
                if role == .service { try self.followLogKeys(of: draft) }
            })
        return isLogged
    }

    private func followLogKeys(of draft: VaultDraft) throws(VaultError) {
        let keys = try AccessLogKeys(
            draft.service.secrets, period: draft.service.period, vaultID: draft.vaultID, root: draft.service.root,
            path: place.path(of: .service))
        if let keys { log.follow(keys) }
    }

    private var writableDirectories: [WritableDirectory] {
        let container = (try? OrphanCheck(accessGroup, in: place.home))?.container?.root
        return [directory, container].compactMap { $0.flatMap(WritableDirectory.init) }
    }

    /// Renames the file of a service compartment that is given up and the directory of its values: unreadable contents
    /// are not destroyed. The access log is set aside with its keys.
    private func setServiceAside(_ draft: VaultDraft) throws(VaultError) -> [SetAsideFile] {
        var room = VaultAbandonment(in: place)
        try room.setAsideService(in: directory, withLog: draft.service.losses.isCompartmentLost)
        return room.files
    }

    /// Removes a slot with a rekey, which ends its holder's knowledge.
    ///
    /// - Throws: As `rekey(_:)`.
    @discardableResult
    public func removeSlot(
        id: UInt32, keeping: Set<UInt32> = [], certifiedBy team: TeamKey? = nil
    ) throws(VaultError) -> RekeyReport {
        try rekey(RekeyOptions(removing: [id], keeping: keeping), certifiedBy: team)
    }

    private func rekeyDraft(of contents: VaultContents) throws(VaultError) -> VaultDraft {
        let root = keys.service
        guard contents.register?.person != nil else {
            return try VaultDraft(contents, root: root, person: nil, slotID: keys.slotID, place: place)
        }
        return try keys.withPerson { person throws(VaultError) in
            let opened = try contents.person(person, place: place)
            return try VaultDraft(contents, root: root, person: (person, opened), slotID: keys.slotID, place: place)
        }
    }

    /// Completes a rekey that another program has begun and not finished, as part of a person's opening.
    ///
    /// - Parameter givingUp: Whether to complete it with an older service compartment, and without the items of *after
    ///   first unlock* if their index does not open.
    /// - Parameter confirmed: The losses of giving up that a person confirmed; `nil` accepts all.
    /// - Returns: The losses. Nothing was done if no rekey was pending, or no person is available.
    @discardableResult
    func completeRekey(givingUp: Bool = false, atMost confirmed: RekeyLosses? = nil) throws(VaultError) -> RekeyOutcome
    {
        guard heldContents.register?.nextRoot != nil, try keys.reachesPerson() else { return RekeyOutcome() }
        let lock = try lockForChange()
        let contents = try contentsForRekey(givingUp: givingUp)
        guard let register = contents.register, let next = register.nextRoot else { return RekeyOutcome() }
        var draft = try rekeyDraft(of: contents)
        try requireService(draft)
        guard let person = draft.person, let opened = person.old else {
            throw .corrupt(place.path(of: .person), "It has no next root.")
        }
        let root = try opened.serviceRoot(1, root: person.root)
        guard root.commitment == next else { throw .corrupt(place.path(of: .person), "It has another next root.") }
        let plan = RekeyPlan(completing: draft)
        let seen = watermarks
        let isSecondWritten = try contents.service.head.period == register.period
        if !isSecondWritten {
            if givingUp {
                draft.takeOlderService(lostWrites(of: contents), contents.seenMinimum)
                draft.giveUpDamagedItems()
                try requireConfirmed(draft.service.losses, confirmed)
            }
            do throws(VaultError) { try plan.renewService(&draft, root: root) } catch {
                throw advisingRebuild(ofContents: error)
            }
            // Another completion may have written this file, and another user may have restored the old one: the new
            // write must not look like another one with a number that its readers have seen.
            draft.goBeyond(seen)
            draft.service.generation += UInt64.random(in: 0..<(1 << 20))
            if draft.isRebuilt { draft.service.losses.setAside = try setServiceAside(draft) }
        }
        // If another user has changed the mode of a written `vault` since, it is written again.
        let isDone = isSecondWritten && contents.modeFault == nil
        let isLogged = try finish(plan, &draft, isSecondWritten: isDone, after: contents, under: lock)
        return RekeyOutcome(losses: draft.service.losses, isLogged: isLogged)
    }
}

/// Handles a service compartment that does not open.
extension Vault {
    /// Returns the least that a rekey with `RekeyOptions.rebuildsServices` leaves out.
    ///
    /// - Throws: `VaultError` as such a rekey.
    public func lossesOfGivingUp() throws(VaultError) -> RekeyLosses {
        let contents = try freshContents(passing: [.mode, .older])
        var draft = try rekeyDraft(of: contents)
        try rebuildServices(&draft, contents, after: nil)
        return draft.service.losses
    }

    /// Returns the contents to rekey, and publishes contents that other programs can read as well.
    ///
    /// - Parameter givingUp: Whether an older service compartment is used as the present one.
    private func contentsForRekey(givingUp: Bool) throws(VaultError) -> VaultContents {
        let contents = try freshContents(passing: givingUp ? [.mode, .older] : .mode)
        if contents.modeFault == nil, !isOlder(contents) { publish(contents) }
        // Even contents that are not published have the log's keys.
        if let keys = contents.logKeys { log.follow(keys) }
        return contents
    }

    /// Returns whether a service compartment that opens is older than one that this user's programs have seen.
    private func isOlder(_ contents: VaultContents) -> Bool {
        contents.serviceHead != nil && !contents.accept(watermarks, accessGroup: accessGroup).isServiceGood
    }

    /// - Throws: `VaultError` `.lockTimeout` if `vault` was changed after a person confirmed, and more is lost.
    private func requireConfirmed(_ losses: RekeyLosses, _ confirmed: RekeyLosses?) throws(VaultError) {
        guard !losses.isWithin(confirmed) else { return }
        throw VaultError(
            .lockTimeout, "rekey", path, "More would be lost than was confirmed: `vault` was changed in the meantime.",
            advice: "Try again.")
    }

    /// Returns the number of lost writes of a service compartment that opens: `nil` if it is the newest that was seen,
    /// 0 if it is another one of the same number.
    private func lostWrites(of contents: VaultContents) -> UInt64? {
        guard isOlder(contents), let head = contents.serviceHead else { return nil }
        let tag = PartSealing.context(accessGroup.identifier, .service, period: head.period, .state).nameTag
        let seen = watermarks.mark(of: tag)?.sequence ?? 0
        return seen > head.generation ? seen - head.generation : 0
    }

    /// Makes the draft continue with the usable contents of `vault`, or with an empty compartment. A file that its
    /// owner has no right to read is repaired without a loss.
    private func rebuildServices(
        _ draft: inout VaultDraft, _ contents: VaultContents, after obstacle: VaultError?
    ) throws(VaultError) {
        if let failure = draft.serviceFailure, isUnreadableToOwner(failure) {
            let path = place.path(of: .service)
            let mode = String(directory.fileMode, radix: 8)
            let isPrivate = (try? directory.sharing) == .ownerOnly
            throw VaultError(
                failure.code, "abandon", path, "Only its permissions are wrong; its contents are intact.",
                advice: "As its owner, make it readable: "
                    + (isPrivate ? "chmod \(mode) \(path.shellQuoted)" : "give it the mode \(mode)."))
        }
        draft.takeOlderService(lostWrites(of: contents), contents.seenMinimum)
        try draft.rebuildServices(after: obstacle)
    }

    private func isUnreadableToOwner(_ failure: VaultError) -> Bool {
        failure.code == .denied && (try? directory.attributes(CompartmentRole.service.leaf))?.uid == geteuid()
    }

    /// - Throws: The reason why `vault` does not open, with advice for persons.
    private func requireService(_ draft: VaultDraft) throws(VaultError) {
        guard let failure = draft.serviceFailure else { return }
        throw advisingRebuild(failure)
    }

    /// Returns the same for contents that a rekey reads from `vault`, such as its index of items.
    private func advisingRebuild(ofContents failure: VaultError) -> VaultError {
        let damage: Set<VaultError.Code> = [.corrupt, .unsupported, .wrongGroup]
        guard damage.contains(failure.code), failure.subject != place.path(of: .person) else { return failure }
        return advisingRebuild(failure)
    }

    /// Returns the failure with advice for persons about a service compartment that stays damaged.
    private func advisingRebuild(_ failure: VaultError) -> VaultError {
        if isUnreadableToOwner(failure) { return failure }
        let command = "sealctl vault rekey --without-vault"
        let advice =
            failure.code == .rolledBack
            ? "Restore the newest copy; to continue with this one: sealctl vault accept, or, if it returns after that, "
                + "\(command)."
            : "Restore the file from a copy; to abandon its keys and items instead: \(command)."
        guard let fault = failure.underlying else {
            return VaultError(failure.code, failure.operation, failure.subject, failure.reason, advice: advice)
        }
        return VaultError(
            FileError(
                fault.code, operation: fault.operation, path: fault.path, errno: fault.errno, advice: advice),
            failure.operation)
    }
}

/// The result of a rekey, or of completing one, in addition to its writes.
struct RekeyOutcome {
    var losses = RekeyLosses()
    /// `true` if the access log has an entry for each write.
    var isLogged = true

    func followed(by next: RekeyOutcome) -> RekeyOutcome {
        RekeyOutcome(losses: losses.followed(by: next.losses), isLogged: isLogged && next.isLogged)
    }
}

extension VaultContents {
    /// The most bytes that a rekey takes in addition to the vault's own: `vault.person` twice and `vault` once, while
    /// the replaced files are open, and the entries of the log.
    fileprivate var rekeySize: Int64 {
        // A key, secrets, a link of the chain of person keys, and each slot resealed.
        let growth = 16 << 10
        let services = (serviceHead?.fileSize ?? 0) + growth
        guard let personFile else { return Int64(services + growth) }
        let persons = personFile.head.fileSize + names.encoded.count + growth
        return Int64(services + 2 * persons + growth)
    }
}

extension VaultError.Code {
    /// Slots that no person vouched for would be carried on by a rekey.
    public static let unvouchedSlots = VaultError.Code(rawValue: "unvouchedSlots")
}

extension AccessEvent {
    /// A rekey began a new period.
    public static let rekeyed = AccessEvent(rawValue: 35)
    /// A holder's slot was written in its own form after a rekey.
    public static let slotRenewed = AccessEvent(rawValue: 36)
}
