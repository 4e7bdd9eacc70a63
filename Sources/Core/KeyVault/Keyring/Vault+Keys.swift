internal import CryptoPrimitives
package import Sealing
internal import SharedFiles

/// Sealing keys by class and epoch: `active`, then `decryptOnly`, then `destroyed`, and never back. Each class has its
/// own epochs and its own rotation.
extension Vault {
    /// Returns every present and former key of the vault, by class and epoch, without secrets.
    ///
    /// - Throws: As `current()`.
    package func keySummaries() throws(VaultError) -> [KeySummary] { try current().keySummaries }

    /// Begins a rotation of a class: a key of the next epoch becomes active, the previous one opens only.
    ///
    /// If a rotation is already under way, it continues and no key is created.
    /// - Returns: The epoch that blobs of the class should have; `nil` for a class that never had a key.
    /// - Throws: `VaultError` `.locked` for *when unlocked* in a locked vault; those of any change.
    package func beginRotation(of protection: ProtectionClass) throws(VaultError) -> UInt32? {
        let contents = try current()
        guard contents.hasKeys(protection) else { return nil }
        if contents.rotation(of: protection).stage == .resealing,
            let epoch = contents.keyring.activeEpoch(of: protection)
        {
            return epoch
        }
        return try change(.rotationBegun, needsPerson: protection == .whenUnlocked) { draft throws(VaultError) in
            // Another program may have begun meanwhile.
            var compartment = try draft.compartment(protection)
            if draft.rotation(of: protection).stage == .resealing, let active = compartment.keyring.active(protection) {
                return active.epoch
            }
            let epoch = try compartment.beginEpoch(
                protection, vaultID: draft.vaultID, at: draft.now, path: draft.place.path(of: compartment.role))
            draft.set(compartment)
            draft.beginResealing(protection)
            return epoch
        }
    }

    /// Completes a rotation: from now on blobs of the class's earlier epochs are refused. Call it when none is left.
    ///
    /// - Parameter epoch: The result of `beginRotation`; does nothing if another rotation has begun since.
    /// - Returns: Whether blobs of earlier epochs are refused now.
    @discardableResult
    package func completeRotation(of protection: ProtectionClass, to epoch: UInt32) throws(VaultError) -> Bool {
        let rotation = try current().rotation(of: protection)
        guard rotation.stage == .resealing else { return rotation.minimumEpoch >= epoch }
        return try change(.rotationCompleted, needsPerson: protection == .whenUnlocked) { draft throws(VaultError) in
            let compartment = try draft.compartment(protection)
            guard draft.rotation(of: protection).stage == .resealing,
                compartment.keyring.active(protection)?.epoch == epoch
            else { return draft.rotation(of: protection).minimumEpoch >= epoch }
            let now = draft.now
            draft.changeRotation(of: protection) {
                $0.stage = .completed
                $0.completed = now
                $0.minimumEpoch = epoch
            }
            return true
        }
    }

    /// Rotates both classes of a group without a container, which has no blobs to reseal.
    ///
    /// Each class is rotated on its own: *when unlocked* of a locked vault waits for its person.
    /// - Throws: `VaultError`, those of any change; a class that was rotated before stays so.
    package func rotateWithoutBlobs() throws(VaultError) -> KeyRotation {
        var report = KeyRotation(isCompleted: true, needsUnlocking: false)
        for protection in ProtectionClass.allCases {
            do throws(VaultError) {
                guard let epoch = try beginRotation(of: protection) else { continue }
                let isDone = try completeRotation(of: protection, to: epoch)
                report.isCompleted = report.isCompleted && isDone
            } catch {
                guard protection == .whenUnlocked, error.code == .locked else { throw error }
                report = KeyRotation(isCompleted: false, needsUnlocking: true)
            }
        }
        return report
    }

    /// Returns the state of the last rotation of a class.
    package func rotationState(of protection: ProtectionClass) throws(VaultError) -> RotationState {
        let rotation = try current().rotation(of: protection)
        return RotationState(
            isResealing: rotation.stage == .resealing, began: rotation.began, completed: rotation.completed,
            minimumEpoch: rotation.minimumEpoch)
    }

    /// Destroys a key: its bytes are erased, its id and epoch remain. Blobs that only it opens are lost.
    ///
    /// The caller has to check whether a blob still needs it.
    /// - Parameter onlyIfRetired: Refuses a key whose epoch no completed rotation has ended, or under which a program
    ///   may still seal. It is checked at the moment of the change, because the caller's observation may be outdated.
    /// - Throws: `VaultError` `.keyNotFound`; `.keyInUse` for the active key and for one that is not retired; `.locked`
    ///   for a key of *when unlocked* in a locked vault.
    package func destroyKey(_ id: KeyID, onlyIfRetired: Bool = false) throws(VaultError) {
        let protection = try current().keyring.protection(of: id)
        let subject = id.bytes.withUnsafeBytes { Array($0) }
        try change(
            .keyDestroyed, subject: subject, needsPerson: protection == .whenUnlocked
        ) { draft throws(VaultError) in
            var compartment = try draft.compartment(protection)
            guard let index = compartment.keyring.firstIndex(where: { KeySummary($0).id == id }) else {
                throw VaultError(.keyNotFound, "destroy key \(id) of", path, "It has no such key.")
            }
            guard compartment.keyring[index].state != .active else {
                throw VaultError(
                    .keyInUse, "destroy key \(id) of", path, "It is the active key.",
                    advice: "Rotate first: sealctl vault rotate.")
            }
            if onlyIfRetired {
                try requireRetired(
                    compartment.keyring[index], minimum: draft.rotation(of: protection).minimumEpoch)
            }
            compartment.keyring[index].destroy()
            draft.set(compartment)
        }
    }

    private func requireRetired(_ key: KeyringEntry, minimum: UInt32) throws(VaultError) {
        let id = KeySummary(key).id
        guard key.epoch < minimum else {
            throw VaultError(
                .keyInUse, "destroy key \(id) of", path, "No rotation has been completed since it was active.")
        }
        guard isEpochHeld(key.epoch, key.protection) == false else {
            throw VaultError(.keyInUse, "destroy key \(id) of", path, "A program may still seal under it.")
        }
    }

    /// Returns whether programs, including this one, still seal in an epoch; `nil` if unknown.
    package func isEpochHeld(_ epoch: UInt32, _ protection: ProtectionClass) -> Bool? {
        let file = LockFile(directory: directory, name: ReaderPresence.leaf, mode: directory.fileMode)
        do throws(FileError) {
            // A short wait: another program that makes the same check holds the byte meanwhile.
            _ = try file.acquire(
                ReaderPresence.range(of: epoch, protection), .exclusive, timeout: .milliseconds(20))
            return false
        } catch {
            return error.code == .lockTimeout ? true : nil
        }
    }
}

/// The result of rotating the keys of a group that has no container.
package struct KeyRotation: Sendable, Hashable {
    /// Blobs of earlier epochs are refused now, in both classes.
    package fileprivate(set) var isCompleted: Bool
    /// The class *when unlocked* was not rotated because the vault is locked.
    package let needsUnlocking: Bool
}

/// The state of a rotation; times are milliseconds since 1970, 0 for never.
package struct RotationState: Sendable, Hashable {
    package let isResealing: Bool
    package let began: UInt64
    package let completed: UInt64
    package let minimumEpoch: UInt32
}

extension VaultContents {
    var keySummaries: [KeySummary] {
        let persons = (register?.person?.keys ?? []).map(KeySummary.init)
        return (((try? service)?.keyring ?? []).map(KeySummary.init) + persons).sorted {
            ($0.epoch, $0.protection.rawValue) < ($1.epoch, $1.protection.rawValue)
        }
    }

    func rotation(of protection: ProtectionClass) -> RotationFields {
        protection == .whenUnlocked
            ? register?.person?.rotation ?? RotationFields() : (try? service)?.state.rotation ?? RotationFields()
    }

    func hasKeys(_ protection: ProtectionClass) -> Bool {
        protection == .whenUnlocked ? !(register?.person?.keys.isEmpty ?? true) : serviceHead != nil
    }
}

extension VaultDraft {
    func rotation(of protection: ProtectionClass) -> RotationFields {
        protection == .whenUnlocked ? register.person?.rotation ?? RotationFields() : service.state.rotation
    }

    /// Records that blobs of earlier epochs of a class are to be resealed.
    mutating func beginResealing(_ protection: ProtectionClass) {
        let now = now
        changeRotation(of: protection) {
            $0.stage = .resealing
            $0.began = now
        }
    }

    mutating func changeRotation(of protection: ProtectionClass, _ change: (inout RotationFields) -> Void) {
        if protection == .whenUnlocked {
            if var person = register.person {
                change(&person.rotation)
                register.person = person
            }
        } else {
            change(&service.state.rotation)
        }
    }
}

// MARK: When unlocked

/// Sealing keys of the class *when unlocked*: each is read from the vault for one use and not kept, so that a lock
/// takes effect for every program at the next use.
extension Vault {
    /// Returns the key for new blobs of a class, after a look at the files.
    ///
    /// - Throws: `VaultError` `.locked`; `.noActiveKey` if the class has none (`makeKey(for:)` creates it), and as
    ///   `current()`.
    package func activeKey(for protection: ProtectionClass) throws(VaultError) -> SealingKey {
        if protection == .afterFirstUnlock { return try activeKey() }
        let contents = try current()
        return try withPerson(contents) { root, person throws(VaultError) in
            guard let entry = person.keyring.active(.whenUnlocked) else {
                throw VaultError(
                    .noActiveKey, "seal with", path, "It has no active key of the class \"when unlocked\".",
                    advice: "Write again: the first write creates it.")
            }
            return try entry.key(vaultID: contents.vaultID, root: root, path: path)
        }
    }

    /// Creates the first sealing key of *when unlocked*, once, under the vault's lock, and lists the name of a record
    /// that is about to be written in that class. The names are durable when this returns.
    ///
    /// Must not be called with a record's lock held: a program that sets a vault aside takes the vault's lock first.
    /// - Parameter record: The record's name; `nil` for blobs without one.
    /// - Throws: `VaultError` `.locked`; `.orphanedBlobs` if the vault never had a key of that class and the container
    ///   has blobs of the group under unknown keys; those of any change.
    package func makeKey(for protection: ProtectionClass, record: String? = nil) throws(VaultError) {
        if protection == .afterFirstUnlock { return }
        let contents = try current()
        guard contents.register?.person != nil else { throw .noPersons(path) }
        guard try keys.reachesPerson() else {
            throw VaultError(
                .locked, "use the vault", path, "It is locked: the class \"when unlocked\" needs its user.",
                advice: "Unlock it: sealctl vault unlock.")
        }
        let isListed = record.map { contents.names.contains(contents.tagger.tag(record: $0)) } ?? true
        guard contents.keyring.whenUnlockedEpoch == nil || !isListed else { return }
        try change(.keyAdded, needsPerson: true) { draft throws(VaultError) in
            var person = try draft.compartment(.whenUnlocked)
            if person.keyring.active(.whenUnlocked) == nil {
                try requireNoOrphans(knowing: draft)
                try person.beginEpoch(
                    .whenUnlocked, vaultID: draft.vaultID, at: draft.now, path: draft.place.path(of: .person))
                draft.set(person)
            }
            if let record { _ = draft.names.insert(draft.tagger.tag(record: record)) }
        }
    }

    /// Ends the protection of a record's name after a person has stated the lower class for it.
    ///
    /// - Throws: `VaultError` `.locked`; those of any change.
    package func lowerClass(ofRecord name: String) throws(VaultError) {
        let contents = try current()
        guard contents.names.contains(contents.tagger.tag(record: name)) else { return }
        try change(.keyAdded, needsPerson: true) { draft throws(VaultError) in
            draft.names.remove(draft.tagger.tag(record: name))
        }
    }

    /// The class of items and records added without one: *when unlocked* if only persons open the vault.
    package var defaultProtection: ProtectionClass {
        guard let register = heldContents.register, register.person != nil else { return .afterFirstUnlock }
        return register.slots.contains { $0.reach == .afterFirstUnlock } ? .afterFirstUnlock : .whenUnlocked
    }

    /// Returns whether a record's name is *when unlocked*: then a blob of the other class under it is `downgraded`.
    ///
    /// - Parameter keyring: The keyring of the look by which the blob is judged.
    package func isListed(record name: String, in keyring: Keyring) -> Bool {
        guard keyring.listsNames else { return false }
        return keyring.listed.contains(heldContents.tagger.tag(record: name))
    }

    /// Returns the keyring of the last look, including the key with that id, of any class.
    ///
    /// - Throws: `VaultError` `.locked`, `.corrupt`.
    package func keyring(toOpen id: KeyID) throws(VaultError) -> Keyring { try keyring(toOpen: id, of: heldContents) }

    /// Returns the same after a look at the files.
    ///
    /// - Throws: `VaultError` `.locked`, and as `current()`.
    package func currentKeyring(toOpen id: KeyID) throws(VaultError) -> Keyring {
        try keyring(toOpen: id, of: current())
    }

    private func keyring(toOpen id: KeyID, of contents: VaultContents) throws(VaultError) -> Keyring {
        guard contents.keyring.isLocked(id) else {
            // An unknown key may be in a compartment that could not be opened.
            if contents.keyring.sealingKey(for: id) == nil { _ = try contents.service }
            return contents.keyring
        }
        return try withPerson(contents) { root, person throws(VaultError) in
            guard let entry = person.keyring.first(where: { KeySummary($0).id == id }) else { return contents.keyring }
            return contents.keyring.lending(try entry.key(vaultID: contents.vaultID, root: root, path: path))
        }
    }

    func withPerson<Result>(
        _ contents: VaultContents, _ body: (RootKey, CompartmentContents) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        do throws(VaultError) {
            return try keys.withPerson { root throws(VaultError) in
                try body(root, try contents.person(root, place: place))
            }
        } catch {
            throw error.code == .locked ? error.explained(for: contents) : error
        }
    }

    /// Searches for blobs before a class's first key. A vault restored from before that key looks as if it never had
    /// one, and the blobs under it would be lost beside another key. A class that already has a key here needs no
    /// search, as in a rotation.
    private func requireNoOrphans(knowing draft: VaultDraft) throws(VaultError) {
        guard draft.person?.keyring.isEmpty ?? true else { return }
        // Without the service compartment, blobs that only lost keys open cannot be identified.
        if let failure = draft.serviceFailure { throw failure }
        let known = Set(draft.service.keyring.map { KeySummary($0).id })
        do throws(VaultError) { try OrphanCheck(accessGroup, in: place.home).check(knowing: known) } catch {
            guard error.code == .orphanedBlobs else { throw error }
            throw VaultError(
                .orphanedBlobs, "create a key of the class \"when unlocked\" for", accessGroup.identifier, error.reason,
                advice:
                    "Import the backup that holds their key (sealctl vault import), or move them out of the container."
            )
        }
    }
}
