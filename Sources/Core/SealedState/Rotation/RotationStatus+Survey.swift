internal import AppGroups
internal import FoundationEssentials
internal import Glibc
internal import KeyVault
internal import Sealing
internal import SharedFiles
internal import SystemPackage

extension RotationStatus {
    /// Walks the container and checks the running programs.
    init(of store: SealedStore) throws(StoreError) {
        let states: [ProtectionClass: RotationState]
        let keys: [KeySummary]
        do throws(VaultError) {
            states = [
                .afterFirstUnlock: try store.vault.rotationState(of: .afterFirstUnlock),
                .whenUnlocked: try store.vault.rotationState(of: .whenUnlocked),
            ]
            keys = try store.vault.keySummaries()
        } catch {
            throw StoreError(error, "examine the rotation of")
        }
        let needs = try KeyNeeds(of: store)
        isRotating = states.values.contains(where: \.isResealing)
        began = Self.date(states.values.map(\.began).max() ?? 0)
        completed = Self.date(states.values.map(\.completed).max() ?? 0)
        activeEpoch = keys.first { $0.state == .active && $0.protection == .afterFirstUnlock }?.epoch
        minimumEpoch = states[.afterFirstUnlock]?.minimumEpoch ?? 1
        unknown = needs.unknown.sorted { $0.path < $1.path }
        self.keys = keys.map { key in
            KeyUse(key, needs, store.vault, minimum: states[key.protection]?.minimumEpoch ?? 1)
        }
    }

    private static func date(_ milliseconds: UInt64) -> Date? {
        milliseconds == 0 ? nil : Date(milliseconds: milliseconds)
    }
}

/// The keys that the blobs of a container and the running programs need.
struct KeyNeeds {
    private(set) var counts: [KeyID: Int] = [:]
    private(set) var paths: [KeyID: [String]] = [:]
    /// Copies of refused blobs that are kept in quarantine.
    private(set) var quarantined: [KeyID: Int] = [:]
    /// Blobs in containers that were given up and can be restored.
    private(set) var trashed: [KeyID: Int] = [:]
    /// Blobs that claim a locked key.
    private(set) var locked: [KeyID: Int] = [:]
    private(set) var unknown: [SkippedBlob] = []
    let holders: [EpochHolder]

    init(of store: SealedStore) throws(StoreError) {
        holders = store.vault.epochHolders()
        // Collected in a separate value: a closure cannot change an incomplete one.
        var found = Found()
        try BlobSurvey(store).visit(includingQuarantine: true) { blob throws(StoreError) in found.note(blob) }
        try TrashSurvey(store).visit { blob in found.noteTrashed(blob) }
        (counts, paths, quarantined, trashed) = (found.counts, found.paths, found.quarantined, found.trashed)
        (locked, unknown) = (found.locked, found.unknown)
    }

    private struct Found {
        var counts: [KeyID: Int] = [:]
        var paths: [KeyID: [String]] = [:]
        var quarantined: [KeyID: Int] = [:]
        var trashed: [KeyID: Int] = [:]
        var locked: [KeyID: Int] = [:]
        var unknown: [SkippedBlob] = []

        mutating func note(_ blob: SurveyedBlob) {
            switch blob.header {
            case .success(let header) where blob.isInQuarantine:
                quarantined[header.header.keyID, default: 0] += 1
            case .success(let header):
                let id = header.header.keyID
                counts[id, default: 0] += 1
                if counts[id, default: 0] <= KeyUse.listedBlobs { paths[id, default: []].append(blob.path) }
            case .failure(let error):
                if let key = blob.claimedKey { locked[key, default: 0] += 1 }
                let left = SkippedBlob(blob.path, error, isPassedOver: blob.mayBePassedOver)
                // Damaged copies are expected in quarantine.
                if !blob.isInQuarantine || KeyNeeds.isUndecided(left) { unknown.append(left) }
            }
        }

        mutating func noteTrashed(_ blob: SurveyedBlob) {
            switch blob.header {
            case .success(let header): trashed[header.header.keyID, default: 0] += 1
            case .failure(let error):
                if let key = blob.claimedKey { locked[key, default: 0] += 1 }
                let left = SkippedBlob(blob.path, error, isPassedOver: true)
                if KeyNeeds.isUndecided(left) { unknown.append(left) }
            }
        }
    }

    /// The number of files whose key is unknown and may be any. A header that does not match its claimed key matches
    /// none; nor does a blob of a missing key need a present one, or a blob of a locked key another.
    var undecided: Int { unknown.count(where: Self.isUndecided) }

    private static func isUndecided(_ blob: SkippedBlob) -> Bool {
        blob.code != .locked && (blob.mayNeedKey || blob.code == .unsupportedFormat)
    }
}

extension KeyUse {
    init(_ key: KeySummary, _ needs: KeyNeeds, _ vault: Vault, minimum: UInt32) {
        id = key.id.description
        epoch = key.epoch
        protection = key.protection
        state =
            switch key.state {
            case .active: .active
            case .decryptOnly: .decryptOnly
            case .destroyed: .destroyed
            }
        created = Date(milliseconds: key.createdAt)
        blobCount = needs.counts[key.id] ?? 0
        blobs = (needs.paths[key.id] ?? []).sorted()
        let holders = needs.holders.filter { $0.epoch == key.epoch && $0.protection == key.protection }
        self.holders = key.state == .destroyed ? [] : holders
        obstacles = Self.obstacles(key, needs, holders, vault, minimum)
    }

    private static func obstacles(
        _ key: KeySummary, _ needs: KeyNeeds, _ holders: [EpochHolder], _ vault: Vault, _ minimum: UInt32
    ) -> [KeyObstacle] {
        switch key.state {
        case .destroyed: return []
        case .active: return [.active]
        case .decryptOnly: break
        }
        var obstacles: [KeyObstacle] = []
        if key.epoch >= minimum { obstacles.append(.rotationNotCompleted) }
        if let count = needs.counts[key.id] { obstacles.append(.blobs(count)) }
        if let count = needs.quarantined[key.id] { obstacles.append(.blobs(count, isInQuarantine: true)) }
        if let count = needs.trashed[key.id] { obstacles.append(.trashed(count)) }
        if let count = needs.locked[key.id] { obstacles.append(.lockedBlobs(count)) }
        if let program = programs(key, holders, vault) { obstacles.append(program) }
        if needs.undecided > 0 { obstacles.append(.unknownFiles(needs.undecided)) }
        return obstacles
    }

    /// Returns the obstacle of running programs. The lock decides; the holders' names are for people.
    private static func programs(_ key: KeySummary, _ holders: [EpochHolder], _ vault: Vault) -> KeyObstacle? {
        switch vault.isEpochHeld(key.epoch, key.protection) {
        case .some(false): nil
        case .some(true): holders.isEmpty ? .unnamedProgram : .programs(holders)
        case .none: .programsUnknown
        }
    }
}

/// Visits every sealed blob of the group's containers that were given up. Restoring one requires their keys; no
/// rotation reseals them there.
struct TrashSurvey {
    private let store: SealedStore

    init(_ store: SealedStore) { self.store = store }

    /// Visits every file in them that is, or may be, a sealed blob of the group, each under its whole path.
    func visit(_ body: (SurveyedBlob) -> Void) throws(StoreError) {
        let items: [ContainerTrash.Item]
        do throws(AppGroupError) { items = try ContainerTrash(home: store.home).items() } catch {
            throw StoreError(error, "search the trash for containers of")
        }
        for item in items where item.group == store.group { try visit(item, body) }
    }

    private func visit(_ item: ContainerTrash.Item, _ body: (SurveyedBlob) -> Void) throws(StoreError) {
        guard let root = try open(item) else { return }
        try BlobSurvey(store, in: root).visit(includingQuarantine: true) { blob throws(StoreError) in
            var blob = blob
            blob.path = "\(item.path)/\(blob.path)"
            body(blob)
        }
    }

    /// Opens a container; nil if it was deleted meanwhile, or belongs to another user who keeps it closed: it was never
    /// this user's container.
    private func open(_ item: ContainerTrash.Item) throws(StoreError) -> Directory? {
        do throws(FileError) { return try Directory.open(FilePath(item.path)) } catch {
            if error.code == .notFound || isOfAnotherUser(item) { return nil }
            throw StoreError(error, "search the trash for containers of", store.group.identifier)
        }
    }

    private func isOfAnotherUser(_ item: ContainerTrash.Item) -> Bool {
        var facts = stat()
        return lstat(item.path, &facts) == 0 && facts.st_uid != geteuid()
    }
}
