internal import KeyVault
internal import Sealing
internal import SharedFiles

/// A run of a rotation: walks the container until a walk finds no blob of an older epoch.
///
/// It keeps no state of its own. The headers show which blobs are done, and the vault records that the rotation has
/// begun, so if the process is killed the next run continues the rotation.
struct Rotation {
    private let store: SealedStore
    private let options: RotationOptions
    private let resealer: Resealer
    /// The target epochs of each class; none for a class that is not rotated now.
    private let epochs: [ProtectionClass: UInt32]
    private var progress = RotationProgress()
    /// Blobs that were tried and stay unchanged, by path: the blob's identity, and the reason.
    private var settled: [String: (identity: BlobIdentity, blob: SkippedBlob)] = [:]

    init(_ store: SealedStore, to epochs: [ProtectionClass: UInt32], _ options: RotationOptions) {
        self.store = store
        self.options = options
        self.epochs = epochs
        resealer = Resealer(store: store, options: options, throttle: Throttle(options), epochs: epochs)
    }

    /// The result of one walk.
    private struct Walk {
        var found = 0
        /// The blobs to be resealed.
        var older: [SurveyedBlob] = []
        var left: [SkippedBlob] = []

        /// Returns `true` if no blob keeps a class's earlier epochs in use. A locked blob is *when unlocked*.
        func isClean(_ protection: ProtectionClass) -> Bool {
            older.isEmpty
                && !left.contains { $0.isBlocking && (protection == .whenUnlocked || $0.code != .locked) }
        }
    }

    /// - Throws: `StoreError`; the blobs that were resealed until then stay.
    mutating func run(_ report: (RotationProgress) -> Void) throws(StoreError) -> RotationReport {
        var hasWaited = false
        var isDone = false
        var walk = Walk()
        while !isDone, progress.pass < max(RotationOptions.minimumPasses, options.maximumPasses) {
            // Only a walk that began after the last old writer has ended can be the last.
            let isLast = hasWaited
            walk = try self.walk()
            begin(walk, report)
            if !walk.older.isEmpty {
                try reseal(&walk, report)
            } else if isLast {
                isDone = true
            } else {
                try WriterBarrier(container: store.container, options: options).wait()
                hasWaited = true
            }
        }
        let completed = isDone ? try complete(walk) : []
        return self.report(walk, completed)
    }

    /// - Returns: The classes whose older epochs are refused now: another rotation may have begun a later epoch
    ///   meanwhile.
    private func complete(_ walk: Walk) throws(StoreError) -> Set<ProtectionClass> {
        var completed: Set<ProtectionClass> = []
        // A person may accept the records of a container that was put back: a completed rotation would end their epoch.
        let hasFormer = walk.left.contains { $0.code == .replayed }
        if hasFormer, store.reader.floor(isFresh: true).isLost { return [] }
        for (protection, epoch) in epochs where walk.isClean(protection) {
            do throws(VaultError) {
                if try store.vault.completeRotation(of: protection, to: epoch) { completed.insert(protection) }
            } catch {
                throw StoreError(error, "complete the rotation of")
            }
        }
        if !completed.isEmpty { store.reader.storedLastGood.removeRetired(by: store.vault.keyring) }
        return completed
    }

    private func report(_ walk: Walk, _ completed: Set<ProtectionClass>) -> RotationReport {
        let hasOther = store.vault.keyring.whenUnlockedEpoch != nil
        return RotationReport(
            epoch: epochs[.afterFirstUnlock] ?? 0, whenUnlockedEpoch: epochs[.whenUnlocked],
            isCompleted: completed.contains(.afterFirstUnlock) && (!hasOther || completed.contains(.whenUnlocked)),
            needsUnlocking: hasOther && epochs[.whenUnlocked] == nil || walk.left.contains { $0.code == .locked },
            passes: progress.pass, resealed: progress.resealed,
            bytes: progress.bytes, left: walk.left.sorted { $0.path < $1.path },
            holders: store.vault.epochHolders().filter { holder in
                epochs[holder.protection].map { holder.epoch < $0 } ?? false
            })
    }
}

// MARK: A walk

extension Rotation {
    private mutating func begin(_ walk: Walk, _ report: (RotationProgress) -> Void) {
        progress.pass += 1
        (progress.found, progress.total, progress.done) = (walk.found, walk.older.count, 0)
        report(progress)
    }

    /// Returns the most bytes that resealing needs at any time: the largest blob, beside the one that it replaces, and
    /// one more for each blob with several names, which each get their own file.
    static func size(of store: SealedStore) throws(StoreError) -> Int64 {
        let keyring = store.vault.keyring
        let rotating = ProtectionClass.allCases.filter {
            (try? store.vault.rotationState(of: $0))?.isResealing == true
        }
        var (largest, linked): (Int64, Int64) = (0, 0)
        try BlobSurvey(store).visit { blob in
            // A backend replaces a record in its own space.
            guard case .success(let header) = blob.header, let file = blob.attributes else { return }
            // A rotation that has begun continues with the rest.
            let protection = keyring.protection(of: header.header.keyID)
            if rotating.contains(protection), header.header.epoch >= keyring.activeEpoch(of: protection) ?? 0 { return }
            // A sparse file by a malicious member claims more bytes than any blob has.
            let size = min(file.size, file.allocatedSize) / 4096 * 4096 + 4096
            largest = max(largest, size)
            if file.nlink > 1 { linked += size }
        }
        return largest + linked
    }

    private func walk() throws(StoreError) -> Walk {
        let keyring = store.vault.keyring
        var walk = Walk()
        try BlobSurvey(store).visit { blob throws(StoreError) in
            try resealer.throttle.requireGoingOn()
            walk.found += 1
            switch blob.header {
            case .failure(let error):
                walk.left.append(
                    SkippedBlob(blob.path, error, isPassedOver: blob.mayBePassedOver || options.passesOver(blob.path)))
            case .success(let header)
            where header.header.epoch >= epochs[keyring.protection(of: header.header.keyID)] ?? 0:
                break
            case .success(let header):
                if let reason = self.reason(toLeave: blob, header, keyring.minimumEpoch(for: header.header.keyID)) {
                    walk.left.append(reason)
                } else {
                    walk.older.append(blob)
                }
            }
        }
        return walk
    }

    /// Returns the reason not to reseal an authentic blob of an older epoch: the new key must not make a blob valid
    /// that readers refuse.
    private func reason(toLeave blob: SurveyedBlob, _ header: VerifiedHeader, _ minimum: UInt32) -> SkippedBlob? {
        let epoch = header.header.epoch
        if epoch < minimum {
            return SkippedBlob(
                blob.path, .retiredEpoch,
                "It has epoch \(epoch), and appeared after a rotation to epoch \(minimum) was completed.",
                epoch: epoch)
        }
        if blob.context(in: store.group) == nil {
            return SkippedBlob(
                blob.path, .wrongName, "It is a copy of a record of another place; no reader accepts it here.",
                epoch: epoch)
        }
        // A blob that was refused once is not tried again, unless it has changed since.
        let identity =
            blob.version.map { BlobIdentity($0) }
            ?? blob.attributes.map { BlobIdentity($0, header.header.commitment) }
        guard let tried = settled[blob.path], tried.identity == identity else { return nil }
        return tried.blob
    }

    private mutating func reseal(_ walk: inout Walk, _ report: (RotationProgress) -> Void) throws(StoreError) {
        for blob in walk.older {
            switch try resealer.reseal(blob) {
            case .resealed(let size):
                progress.resealed += 1
                progress.bytes += Int64(size)
            case .changed: break
            case .left(let left, let opened):
                let left = options.passesOver(blob.path) ? left.passedOver : left
                walk.left.append(left)
                // The lock may be released: such a blob is tried in each walk.
                if let opened, left.code != .lockTimeout { settled[blob.path] = (opened, left) }
            }
            progress.done += 1
            progress.path = blob.path
            report(progress)
        }
    }
}
