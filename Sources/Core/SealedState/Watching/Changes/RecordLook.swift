internal import FoundationEssentials
internal import KeyVault
internal import Sealing

/// What one look at a record has found, and when it may end otherwise.
struct RecordLook: Sendable {
    let outcome: RecordChange.Outcome
    let mark: UpdateMark
    /// When it will be another one by the time alone.
    var changesAt: Date?
    /// Whether it can become another one by a change of the vault alone.
    var hangsOnVault = false
    /// Whether it may become another one without any change that is told: this process, or the system, failed.
    var mayPass = false

    /// Whether setting the clock may make it another one.
    var hangsOnClock: Bool {
        if case .rejected(let error) = outcome, error.code == .stale || error.code == .notYetValid { return true }
        return changesAt != nil
    }

    /// What a record is of which nothing was ever told.
    var isNothing: Bool {
        if case .absent = outcome { return true }
        return false
    }
}

extension RecordReader {
    /// Reads a record as far as that goes without its type; what is read is accepted.
    func look(at name: String) -> RecordLook {
        let tag = BlobContext(group: group.identifier, kind: .record, name: name).nameTag
        // Another thread may accept a newer blob between the look and the mark of a refusal: then it is looked at once more.
        for _ in 0..<8 {
            let before = watermarks.mark(of: tag)
            do throws(StoreError) { return try valueLook(at: try places.place(stored: name)) } catch {
                let accepted = watermarks.mark(of: tag)
                if let look = refused(error, name, tag, accepted), before == accepted { return look }
            }
        }
        return RecordLook(
            outcome: .rejected(Self.overtaken(name)), mark: UpdateMark(tag, Self.overtaken(name), accepted: nil),
            mayPass: true)
    }

    /// What a look answers while the container is gone or cannot be used.
    func look(at name: String, missing error: StoreError) -> RecordLook {
        let tag = BlobContext(group: group.identifier, kind: .record, name: name).nameTag
        return RecordLook(
            outcome: error.code == .containerMissing ? .absent(error) : .rejected(error),
            mark: UpdateMark(tag, error, accepted: watermarks.mark(of: tag)), mayPass: error.mayPass)
    }

    private static func overtaken(_ name: String) -> StoreError {
        StoreError(.file, "read", name, "It is written faster than it is read.", advice: "Wait for its writers.")
    }

    private func valueLook(at place: RecordPlace) throws(StoreError) -> RecordLook {
        let blob = try acceptedBlob(at: place)
        let header = blob.header
        try blob.opened.plaintext.withUnsafeBytes { bytes throws(StoreError) in
            try requireSafeStructure(of: bytes, codec: header.codec, named: place.name.text)
        }
        try checkFreshness(of: blob, at: place)
        let provenance = Provenance(header, writer: blob.writer)
        return RecordLook(
            outcome: .value(provenance),
            mark: UpdateMark(
                place.context.nameTag, provenance, rejection: nil, accepted: watermarks.mark(of: place.context.nameTag)),
            changesAt: end(of: header, at: place),
            // What needs its user goes out of reach when the vault is locked.
            hangsOnVault: keys.protection(of: header) == .whenUnlocked)
    }

    /// Nil where a deletion was replaced while it was looked at.
    private func refused(
        _ error: StoreError, _ name: String, _ tag: NameTag, _ accepted: Watermark?
    ) -> RecordLook? {
        let place = try? places.place(stored: name)
        if let place { notice(error, at: place) }
        let mark = UpdateMark(tag, error, accepted: accepted)
        switch error.code {
        case .absent:
            if let place, let (header, writer) = try? deletion(at: place) {
                guard let accepted, header.sequence == accepted.sequence else { return nil }
                // Told apart from a file that is gone: that is what a purge leaves, with the same state accepted.
                return RecordLook(
                    outcome: .deleted(Provenance(header, writer: writer)),
                    mark: UpdateMark(name: tag, accepted: accepted, outcome: "deleted"))
            }
            return RecordLook(outcome: .absent(error), mark: mark)
        case .containerMissing: return RecordLook(outcome: .absent(error), mark: mark)
        default:
            return RecordLook(
                outcome: .rejected(error), mark: mark,
                changesAt: error.code == .notYetValid ? change(ofRefused: name) + 0.001 : nil,
                hangsOnVault: error.isOfVault, mayPass: error.mayPass)
        }
    }

    private func deletion(at place: RecordPlace) throws(StoreError) -> (BlobHeader, WriterID?)? {
        guard let listed = try listedHeader(place), listed.header.header.flags.contains(.tombstone) else { return nil }
        return (listed.header.header, listed.writer)
    }
}
