internal import CryptoPrimitives
internal import FoundationEssentials
internal import KeyVault
internal import Sealing
internal import SharedFiles

/// Size, shape, place, key, commitment, contents, authority and order: what can be said of a blob without its type.
extension SealedStore {
    /// How often a blob that was overtaken while it was read is read again.
    package static var maximumRereads: Int { 16 }

    /// Size, shape, place, key, commitment, contents, authority and watermark; a tombstone is an absent record.
    package func acceptedBlob(at place: RecordPlace) throws(StoreError) -> AcceptedBlob {
        var previous: Commitment?
        var attempts = 0
        while true {
            var blob = try openAuthentic(place)
            let header = blob.header
            // Before the order: no watermark of a governed name moves by a blob that fails.
            blob.writer = try requireAuthority(of: blob.opened, at: place)
            let acceptance = watermarks.accept(blob.opened.header, at: { options.now().timeIntervalSince1970 })
            let verdict = acceptance.verdict
            blob.anchor = acceptance.anchor
            // Another thread may have accepted a newer blob after this one was read: then the file has changed since,
            // and reading it again ends the race. A blob that is still there is a replay; so is a row of old ones that
            // somebody keeps exchanging.
            if verdict == .replayed, header.commitment != previous, attempts < Self.maximumRereads {
                previous = header.commitment
                attempts += 1
                continue
            }
            try judge(verdict, header, place)
            guard !header.flags.contains(.tombstone) else {
                throw StoreError(.absent, "read", place.name.text, "It was deleted (sequence \(header.sequence)).")
            }
            return blob
        }
    }

    private func openAuthentic(_ place: RecordPlace) throws(StoreError) -> AcceptedBlob {
        let limit = maximumBlobSize
        let blob: [UInt8]
        do throws(FileError) {
            blob = try backend.read(place.address, limit: limit + BlobOpener.signedAllowance)
        } catch {
            throw error.code == .notFound ? absent(place) : StoreError(error, "read", place.name.text)
        }
        return AcceptedBlob(opened: try openWhole(blob, "read", place, limit: limit), sealed: blob)
    }

    /// Opens a whole blob, its epoch included.
    func openWhole(
        _ blob: [UInt8], _ operation: String, _ place: RecordPlace, limit: Int
    ) throws(StoreError) -> BlobOpener.Opened {
        let opened = try withKeys(for: blob, operation, place) { keys throws(SealingError) in
            try blob.withRawBytes { blob throws(SealingError) in
                try BlobOpener.open(blob, context: place.context, keys: keys, limit: limit)
            }
        }
        try requireCurrent(opened.header.header, operation, place)
        return opened
    }

    /// The largest unsigned blob that is read; a signed one may be `BlobOpener.signedAllowance` larger.
    var maximumBlobSize: Int {
        // Clamped: a limit such as Int.max means "any", and must not overflow on its way to the blob's size.
        BlobLayout.blobSize(plaintextSize: min(max(0, options.maximumRecordSize), 1 << 40))
    }

    /// Why there is no file in a record's place.
    func absent(_ place: RecordPlace) -> StoreError {
        if backend.isRemoved {
            return StoreError(
                .containerMissing, "read", place.name.text, "\(containerPath) was removed while it was open.",
                advice: "Open the store again.")
        }
        guard let mark = watermarks.mark(of: place.context.nameTag) else {
            return StoreError(.absent, "read", place.name.text, "No record of that name was written.")
        }
        if watermarks.isPurged(place.context.nameTag) {
            return StoreError(.absent, "read", place.name.text, "It was deleted, and the mark of that was purged.")
        }
        if let authority, authority.governs(place.name.text) {
            return StoreError(
                .missing, "read", place.name.text,
                "Its file is gone, without a signed deletion; sequence \(mark.sequence) had been accepted.")
        }
        return StoreError(
            .absent, "read", place.name.text,
            "Its file is gone, without a deletion; sequence \(mark.sequence) had been accepted.")
    }
}
