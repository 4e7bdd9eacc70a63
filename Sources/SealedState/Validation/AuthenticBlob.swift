internal import CryptoPrimitives
internal import FoundationEssentials
internal import KeyVault
internal import Sealing
internal import SharedFiles

/// Size, shape, place, key, commitment, contents and order: what can be said of a blob without its type.
extension SealedStore {
    /// How often a blob that was overtaken while it was read is read again.
    static var maximumRereads: Int { 16 }

    /// Size, shape, place, key, commitment, contents and watermark; a tombstone is an absent record.
    func acceptedBlob(at place: RecordPlace) throws(StoreError) -> AcceptedBlob {
        var previous: Commitment?
        var attempts = 0
        while true {
            var blob = try openAuthentic(place)
            let header = blob.header
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
            blob = try backend.read(place.address, limit: limit)
        } catch {
            throw error.code == .notFound ? absent(place) : StoreError(error, "read", place.name.text)
        }
        let opened = try withKeys(for: blob, "read", place) { keys throws(SealingError) in
            try blob.withRawBytes { blob throws(SealingError) in
                try BlobOpener.open(blob, context: place.context, keys: keys, limit: limit)
            }
        }
        try requireEpoch(of: opened.header.header, "read", place)
        return AcceptedBlob(opened: opened, sealed: blob)
    }

    /// The largest blob that is read.
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
        return StoreError(
            .absent, "read", place.name.text,
            "Its file is gone, without a deletion; sequence \(mark.sequence) had been accepted.")
    }
}
