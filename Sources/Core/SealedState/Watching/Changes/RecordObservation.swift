internal import FoundationEssentials
internal import KeyVault
internal import Sealing

/// The result of one look at a record, and the time of its next change.
struct RecordObservation: Sendable {
    let outcome: RecordChange.Outcome
    let mark: UpdateMark
    /// The time at which it changes by time alone.
    var changesAt: Date?
    /// A change of the vault alone can change the result.
    var hangsOnVault = false
    /// The result may change without a notification: this process, or the system, failed.
    var mayPass = false

    /// Setting the clock may change the result.
    var hangsOnClock: Bool {
        if case .rejected(let error) = outcome, error.code == .stale || error.code == .notYetValid { return true }
        return changesAt != nil
    }

    /// The result of a record that was never reported.
    var isNothing: Bool {
        if case .absent = outcome { return true }
        return false
    }
}

extension RecordReader {
    /// Reads a record as far as possible without its type; the read state is accepted.
    func look(at name: String) -> RecordObservation {
        let tag = BlobContext(group: group.identifier, kind: .record, name: name).nameTag
        // Another thread may accept a newer blob between the look and the mark of a refusal: then the look is repeated.
        for _ in 0..<8 {
            let before = watermarks.mark(of: tag)
            do throws(StoreError) { return try valueObservation(at: try places.place(stored: name)) } catch {
                let accepted = watermarks.mark(of: tag)
                if let look = refused(error, name, tag, accepted), before == accepted { return look }
            }
        }
        return RecordObservation(
            outcome: .rejected(Self.overtaken(name)), mark: UpdateMark(tag, Self.overtaken(name), accepted: nil),
            mayPass: true)
    }

    /// Returns the result of a look while the container is missing or unusable.
    func look(at name: String, missing error: StoreError) -> RecordObservation {
        let tag = BlobContext(group: group.identifier, kind: .record, name: name).nameTag
        return RecordObservation(
            outcome: error.code == .containerMissing ? .absent(error) : .rejected(error),
            mark: UpdateMark(tag, error, accepted: watermarks.mark(of: tag)),
            mayPass: error.mayPass || mayBeCertified(error))
    }

    private static func overtaken(_ name: String) -> StoreError {
        StoreError(.file, "read", name, "It is written faster than it is read.", advice: "Wait for its writers.")
    }

    private func valueObservation(at place: RecordPlace) throws(StoreError) -> RecordObservation {
        let blob = try acceptedBlob(at: place)
        let header = blob.header
        try blob.opened.plaintext.withUnsafeBytes { bytes throws(StoreError) in
            try requireSafeStructure(of: bytes, codec: header.codec, named: place.name.text)
        }
        try checkFreshness(of: blob, at: place)
        let provenance = Provenance(header, writer: blob.writer)
        return RecordObservation(
            outcome: .value(provenance),
            mark: UpdateMark(
                place.context.nameTag, provenance, rejection: nil, accepted: watermarks.mark(of: place.context.nameTag)),
            changesAt: end(of: header, at: place),
            // A record that needs its user becomes inaccessible when the vault is locked.
            hangsOnVault: keys.protection(of: header) == .whenUnlocked)
    }

    /// Returns the result of a failed look; nil if a deletion was replaced meanwhile.
    private func refused(
        _ error: StoreError, _ name: String, _ tag: NameTag, _ accepted: Watermark?
    ) -> RecordObservation? {
        let place = try? places.place(stored: name)
        if let place { notice(error, at: place) }
        let mark = UpdateMark(tag, error, accepted: accepted)
        switch error.code {
        case .absent:
            if let place, let (header, writer) = try? deletion(at: place) {
                guard let accepted, header.sequence == accepted.sequence else { return nil }
                // Distinct from a missing file, which is the result of a purge, with the same state accepted.
                return RecordObservation(
                    outcome: .deleted(Provenance(header, writer: writer)),
                    mark: UpdateMark(name: tag, accepted: accepted, outcome: "deleted"))
            }
            return RecordObservation(outcome: .absent(error), mark: mark)
        case .containerMissing: return RecordObservation(outcome: .absent(error), mark: mark)
        default:
            return RecordObservation(
                outcome: .rejected(error), mark: mark,
                changesAt: error.code == .notYetValid ? change(ofRefused: name) + 0.001 : nil,
                hangsOnVault: error.isOfVault, mayPass: error.mayPass || mayBeCertified(error))
        }
    }

    private func deletion(at place: RecordPlace) throws(StoreError) -> (BlobHeader, WriterID?)? {
        guard let listed = try listedHeader(place), listed.header.header.flags.contains(.tombstone) else { return nil }
        return (listed.header.header, listed.writer)
    }
}
