internal import CryptoPrimitives
internal import FoundationEssentials
internal import KeyVault
internal import Sealing
internal import SharedFiles

extension SealedStore {
    /// The record's current value. Takes no lock.
    ///
    /// - Parameters:
    ///   - type: The record's type.
    ///   - name: Where it lies; the type's `recordName` unless stated.
    /// - Throws: `StoreError`, saying why there is no value to believe.
    public func read<Record: SealedRecord>(
        _ type: Record.Type, named name: String = Record.recordName
    ) throws(StoreError) -> Record {
        try snapshot(of: type, named: name).value
    }

    /// The record's current value with its provenance. Takes no lock.
    ///
    /// - Throws: `StoreError`, saying why there is no value to believe.
    public func snapshot<Record: SealedRecord>(
        of type: Record.Type, named name: String = Record.recordName
    ) throws(StoreError) -> RecordSnapshot<Record> {
        let snapshot = try decodedSnapshot(of: type, named: name)
        try checkFreshness(of: snapshot, named: name)
        try validate(snapshot.value, named: name)
        return snapshot
    }

    /// The record's current value, or nil whatever the reason: the one call that gives the reason up.
    public func readIfValid<Record: SealedRecord>(
        _ type: Record.Type, named name: String = Record.recordName
    ) -> Record? {
        try? read(type, named: name)
    }

    /// Everything up to decoding: authentic, in order, of a readable version.
    func decodedSnapshot<Record: SealedRecord>(
        of type: Record.Type, named name: String
    ) throws(StoreError) -> RecordSnapshot<Record> {
        let opened = try openAccepted(try places.place(name))
        let header = opened.header.header
        try checkVersion(header, against: type, named: name)
        let value = try opened.plaintext.withUnsafeBytes { bytes throws(StoreError) in
            try decode(type, from: bytes, codec: header.codec, named: name)
        }
        return RecordSnapshot(value: value, provenance: Provenance(header))
    }

    /// How often a blob that was overtaken while it was read is read again.
    static var maximumRereads: Int { 16 }

    /// Size, shape, place, key, commitment, contents and watermark; a tombstone is an absent record.
    func openAccepted(_ place: RecordPlace) throws(StoreError) -> BlobOpener.Opened {
        var previous: Commitment?
        var attempts = 0
        while true {
            let opened = try openAuthentic(place)
            let header = opened.header.header
            let verdict = watermarks.accept(opened.header)
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
            return opened
        }
    }

    private func openAuthentic(_ place: RecordPlace) throws(StoreError) -> BlobOpener.Opened {
        // Clamped: a limit such as Int.max means "any", and must not overflow on its way to the blob's size.
        let limit = BlobLayout.blobSize(plaintextSize: min(max(0, options.maximumRecordSize), 1 << 40))
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
        return opened
    }

    private func absent(_ place: RecordPlace) -> StoreError {
        if backend.isRemoved {
            return StoreError(
                .containerMissing, "read", place.name.text, "\(containerPath) was removed while it was open.",
                advice: "Open the store again.")
        }
        guard let mark = watermarks.mark(of: place.context.nameTag) else {
            return StoreError(.absent, "read", place.name.text, "No record of that name was written.")
        }
        return StoreError(
            .absent, "read", place.name.text,
            "Its file is gone, without a deletion; sequence \(mark.sequence) had been accepted.")
    }

    func judge(_ verdict: Watermark.Verdict, _ header: BlobHeader, _ place: RecordPlace) throws(StoreError) {
        // Left early: the texts below cost more than all of the checks above.
        if verdict == .advances || verdict == .same { return }
        let name = place.name.text
        let accepted = watermarks.mark(of: place.context.nameTag).map { "\($0.epoch).\($0.sequence)" } ?? "none"
        let found = "\(header.epoch).\(header.sequence)"
        switch verdict {
        case .advances, .same: return
        case .replayed:
            throw StoreError(.replayed, "read", name, "It is \(found); \(accepted) was accepted before.")
        case .forked:
            throw StoreError(.forked, "read", name, "Another blob of \(found) was accepted before.")
        case .jumps:
            throw StoreError(.sequenceJump, "read", name, "It is \(found), too far ahead of \(accepted).")
        }
    }
}

extension SealedStore {
    /// Refuses a schema version that the type does not read, before anything is decoded.
    private func checkVersion<Record: SealedRecord>(
        _ header: BlobHeader, against type: Record.Type, named name: String
    ) throws(StoreError) {
        let found = Int(header.schemaVersion)
        var supported: String { "this program reads \(type.oldestReadableVersion) to \(type.schemaVersion)" }
        if found > type.schemaVersion {
            throw StoreError(.tooNew, "read", name, "It has schema version \(found); \(supported).")
        }
        if found < type.oldestReadableVersion {
            throw StoreError(.tooOld, "read", name, "It has schema version \(found); \(supported).")
        }
    }

    private func decode<Record: SealedRecord>(
        _ type: Record.Type, from bytes: UnsafeRawBufferPointer, codec: PayloadCodec, named name: String
    ) throws(StoreError) -> Record {
        guard codec == .json else {
            throw StoreError(.undecodable, "read", name, "Its payload is \(codec); this program reads json.")
        }
        guard !StructureLimit.exceeds(options.maximumDepth, in: bytes) else {
            throw StoreError(
                .unsafeStructure, "read", name, "It is nested deeper than \(options.maximumDepth) levels.")
        }
        do {
            return try JSONCodec.decode(type, from: bytes)
        } catch {
            throw StoreError(.undecodable, "read", name, CodingFault.describe(error))
        }
    }

    private func checkFreshness<Record: SealedRecord>(
        of snapshot: RecordSnapshot<Record>, named name: String
    ) throws(StoreError) {
        let freshness = Freshness(now: options.now(), skew: options.clockSkew)
        let ends = [snapshot.value.expiresAt, snapshot.provenance.notAfter].compactMap { $0 }
        try freshness.check(
            sealedAt: snapshot.provenance.sealedAt, expiresAt: ends.min(), maximumAge: Record.maximumAge,
            named: name)
    }

    func validate(_ value: some SealedRecord, named name: String) throws(StoreError) {
        do throws(ValidationFailure) { try value.validate() } catch {
            throw StoreError(.invalid, "validate", name, "It breaks its own rules: \(error).", cause: error)
        }
    }
}
