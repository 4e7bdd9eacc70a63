internal import KeyVault
internal import Sealing
internal import SharedFiles

/// One run of a rotation: walks the container until a walk finds nothing of an older epoch.
///
/// It keeps no notes of its own. Which blobs are done is in their headers, and that it has begun is in the vault, so whoever
/// is killed on the way leaves a rotation that the next run goes on with.
struct Rotation {
    private let store: SealedStore
    private let options: RotationOptions
    private let resealer: Resealer
    private let epoch: UInt32
    private var progress = RotationProgress()
    /// Blobs that were tried and stay as they are, by path: which blob it was, and why.
    private var settled: [String: (identity: BlobIdentity, blob: LeftBlob)] = [:]

    init(_ store: SealedStore, to epoch: UInt32, _ options: RotationOptions) {
        self.store = store
        self.options = options
        self.epoch = epoch
        resealer = Resealer(store: store, options: options, throttle: Throttle(options), epoch: epoch)
    }

    /// What one walk found.
    private struct Walk {
        var found = 0
        /// To be resealed.
        var older: [SurveyedBlob] = []
        var left: [LeftBlob] = []

        var isClean: Bool { older.isEmpty && !left.contains(where: \.isBlocking) }
    }

    /// - Throws: `StoreError`; whatever was resealed until then stays.
    mutating func run(_ report: (RotationProgress) -> Void) throws(StoreError) -> RotationReport {
        var hasWaited = false
        var isDone = false
        var walk = Walk()
        while !isDone, progress.pass < max(RotationOptions.minimumPasses, options.maximumPasses) {
            // Only a walk that began after the last old writer has ended is the last.
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
        let isCompleted = isDone && walk.isClean ? try complete() : false
        return self.report(walk, isCompleted: isCompleted)
    }

    /// - Returns: Whether older epochs are refused now: another rotation may have begun a later epoch meanwhile.
    private func complete() throws(StoreError) -> Bool {
        do throws(VaultError) { return try store.vault.completeRotation(to: epoch) } catch {
            throw StoreError(error, "complete the rotation of")
        }
    }

    private func report(_ walk: Walk, isCompleted: Bool) -> RotationReport {
        RotationReport(
            epoch: epoch, isCompleted: isCompleted, passes: progress.pass, resealed: progress.resealed,
            bytes: progress.bytes, left: walk.left.sorted { $0.path < $1.path },
            holders: store.vault.epochHolders().filter { $0.epoch < epoch })
    }
}

// MARK: One walk

extension Rotation {
    private mutating func begin(_ walk: Walk, _ report: (RotationProgress) -> Void) {
        progress.pass += 1
        (progress.found, progress.total, progress.done) = (walk.found, walk.older.count, 0)
        report(progress)
    }

    private func walk() throws(StoreError) -> Walk {
        let minimum = store.vault.keyring.minimumEpoch
        var walk = Walk()
        try BlobSurvey(store).visit { blob throws(StoreError) in
            try resealer.throttle.requireGoingOn()
            walk.found += 1
            switch blob.header {
            case .failure(let error):
                walk.left.append(
                    LeftBlob(blob.path, error, isPassedOver: blob.mayBePassedOver || options.passesOver(blob.path)))
            case .success(let header) where header.header.epoch >= epoch: break
            case .success(let header):
                if let reason = self.reason(toLeave: blob, header, minimum) {
                    walk.left.append(reason)
                } else {
                    walk.older.append(blob)
                }
            }
        }
        return walk
    }

    /// Why an authentic blob of an older epoch is not resealed: the new key must not vouch for what readers refuse.
    private func reason(toLeave blob: SurveyedBlob, _ header: VerifiedHeader, _ minimum: UInt32) -> LeftBlob? {
        let epoch = header.header.epoch
        if epoch < minimum {
            return LeftBlob(
                blob.path, .retiredEpoch,
                "It is of epoch \(epoch), and appeared after a rotation to epoch \(minimum) was completed.",
                epoch: epoch)
        }
        if blob.context(in: store.group) == nil {
            return LeftBlob(
                blob.path, .wrongName, "It is a copy of a record that belongs elsewhere; no reader takes it here.",
                epoch: epoch)
        }
        // Tried before: what is refused once is not tried again, unless it is another blob by now.
        guard let tried = settled[blob.path], let file = blob.attributes,
            tried.identity == BlobIdentity(file, header.header.commitment)
        else { return nil }
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
                // A lock comes free again: such a blob is tried in each walk.
                if let opened, left.code != .lockTimeout { settled[blob.path] = (opened, left) }
            }
            progress.done += 1
            progress.path = blob.path
            report(progress)
        }
    }
}
