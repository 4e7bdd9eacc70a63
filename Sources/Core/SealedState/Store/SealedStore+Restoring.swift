internal import AppGroups
internal import CryptoPrimitives
internal import FoundationEssentials
internal import KeyVault
package import SealedBackends
internal import Sealing
package import SharedFiles

/// A copy of a container's files, from which records are restored. Nothing in it is trusted.
package struct CopiedContainer: Sendable {
    let root: Directory
    private let database: (any SealedBackend)?

    /// - Parameters:
    ///   - root: The directory with the container's files.
    ///   - database: The records, if they are not in files.
    package init(_ root: Directory, database: (any SealedBackend)? = nil) {
        self.root = root
        self.database = database
    }

    /// Returns the blob of a record.
    ///
    /// - Parameter limit: The largest size in bytes that is read.
    /// - Throws: `StoreError` `.absent` without a blob; `.tooLarge`; the errors of reading.
    func blob(of name: RecordName, limit: Int) throws(StoreError) -> [UInt8] {
        let bytes: [UInt8]?
        if let database {
            bytes = try StoreError.onBackend("restore", name.text) { () throws(BackendError) in
                try database.read(BackendKey(name.text), limit: limit)?.bytes
            }
        } else {
            do throws(FileError) { bytes = try root.read(RecordFile.path(of: name), limit: limit) } catch {
                if error.code != .notFound { throw StoreError(error, "restore", name.text) }
                bytes = nil
            }
        }
        guard let bytes else {
            throw StoreError(.absent, "restore", name.text, "The copy has no record of that name.")
        }
        return bytes
    }
}

/// A planned restoration: a verified record, sealed file or mailbox of a copy, and the contents of its place in the
/// container. It is carried out only while neither has changed.
package struct Restoration: Sendable {
    /// The contents of the place, compared with those of the copy.
    package enum Place: Sendable, Equatable {
        /// Nothing, and no deletion is known.
        case empty
        /// The same contents.
        case same
        /// Something else, which the text names, such as "another value, of sequence 3".
        case taken(String)
    }

    /// The name of the record.
    package let name: RecordName
    package let place: Place
    /// The hash of the bytes in the copy.
    let source: [UInt8]
    let found: PlaceContents
    /// The code for which readers refuse the value at this time, such as `stale` for one that has expired.
    package internal(set) var refusal: StoreError.Code?
    /// The number of messages, segments and rests of segments of a mailbox that are left out, because no reader accepts
    /// them.
    package internal(set) var passedOver = 0
}

/// The contents of a record's place, as the condition of a later write.
struct PlaceContents: Sendable, Equatable {
    /// The hash of the blob's bytes, or of its header if it is too large; nil without a blob.
    let hash: [UInt8]?
    /// There is no blob, because a deletion's mark was purged.
    let isPurged: Bool
    /// The reason for which nothing is read there: something that is no blob, or one above the limit.
    var refusal: StoreError.Code?
}

/// Restoring from a copy of a container, for tools: restoring is writing (docs/decisions/0042).
extension SealedStore {
    /// The kinds of records that are restored.
    private enum Kind {
        case record
        case file(SealedFileName)
        case mailbox(MailboxName)

        /// - Returns: nil for leases, the certificate and other records that belong to one container or machine.
        init?(_ name: RecordName) {
            if !name.isReserved || DefaultsSuite(holding: name) != nil {
                self = .record
            } else if let file = SealedFileName(manifest: name) {
                self = .file(file)
            } else if let mailbox = MailboxName(holding: name) {
                self = .mailbox(mailbox)
            } else {
                return nil
            }
        }
    }

    /// Verifies a record of a copy with all that belongs to it, and compares it with the container. Nothing is accepted
    /// or changed.
    ///
    /// - Parameter name: The record: a user's, a suite, the manifest of a sealed file, or the record of a mailbox.
    /// - Returns: nil for a deletion in the copy, and for records that are not restored, such as leases.
    /// - Throws: `StoreError`: the rejection of what is in the copy; `.notAuthorized` without the right to write it;
    ///   `.conflict` for a mailbox that the container has; `.tooNew`, `.locked` and other errors of a write.
    package func restoration(of name: RecordName, from copy: CopiedContainer) throws(StoreError) -> Restoration? {
        guard let kind = Kind(name) else { return nil }
        return try restoring(name) { store throws(StoreError) -> Restoration? in
            switch kind {
            case .record: try store.restoration(ofRecord: name, nil, from: copy)
            case .file(let file): try store.restoration(ofRecord: name, file, from: copy)
            case .mailbox(let mailbox): try store.restoration(ofMailbox: mailbox, from: copy)
            }
        }
    }

    /// Carries out a planned restoration: verifies the copy again, and writes what it has with the next sequence, under
    /// the active key and with its own times.
    ///
    /// - Throws: `StoreError`: `.conflict` if the copy or the place has changed since the plan; the errors of
    ///   `restoration` and of a write.
    package func restore(_ restoration: Restoration, from copy: CopiedContainer) throws(StoreError) {
        guard let kind = Kind(restoration.name) else { return }
        try restoring(restoration.name) { store throws(StoreError) in
            switch kind {
            case .record: try store.restore(restoration, nil, from: copy)
            case .file(let file): try store.restore(restoration, file, from: copy)
            case .mailbox(let mailbox): try store.restore(restoration, mailbox: mailbox, from: copy)
            }
        }
    }

    /// Runs a step on the present container, with the limits of a suite for a suite.
    private func restoring<Result>(
        _ name: RecordName, _ body: (SealedStore) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let suites = DefaultsOptions()
        if DefaultsSuite(holding: name) != nil, options.maximumRecordSize < suites.maximumSize {
            return try forSuites(suites).onPresentContainer(body)
        }
        return try onPresentContainer(body)
    }

    /// Returns the bytes of a record in a copy; of the size of a record that readers accept.
    func copied(_ name: RecordName, from copy: CopiedContainer) throws(StoreError) -> [UInt8] {
        try copy.blob(of: name, limit: reader.maximumBlobSize + BlobOpener.signedAllowance)
    }

    private func restoration(
        ofRecord name: RecordName, _ file: SealedFileName?, from copy: CopiedContainer
    ) throws(StoreError) -> Restoration? {
        let place = try places.place(stored: name.text)
        let bytes = try copied(name, from: copy)
        let blob = try reader.opened(bytes, at: place)
        if blob.header.flags.contains(.tombstone) { return nil }
        try writer.requireRestorable(blob, at: place)
        let (state, found) =
            if let file {
                try compare(file, blob, at: place, from: copy)
            } else {
                try reader.compare(blob, at: place) { stored throws(StoreError) in
                    stored.hasValue(of: blob) ? nil : "another value, of sequence \(stored.header.sequence)"
                }
            }
        var restoration = Restoration(name: name, place: state, source: BLAKE2b.hash(bytes, count: 32), found: found)
        do throws(StoreError) {
            try reader.checkFreshness(of: blob.header, named: name.text, at: options.now())
        } catch { restoration.refusal = error.code }
        return restoration
    }

    private func restore(
        _ restoration: Restoration, _ file: SealedFileName?, from copy: CopiedContainer
    ) throws(StoreError) {
        let (place, found) = (try places.place(stored: restoration.name.text), restoration.found)
        let bytes = try copied(restoration.name, from: copy)
        guard BLAKE2b.hash(bytes, count: 32) == restoration.source else { throw .changedCopy(of: place) }
        let blob = try reader.opened(bytes, at: place)
        try reader.require(found, at: place)
        var request = writer.request(restoring: blob.header)
        request.beforeSealing = { [reader] _ throws(StoreError) in
            // Under the record's lock: the plan still holds, and readers still accept the blob.
            try reader.require(found, at: place)
            _ = try reader.opened(bytes, at: place)
        }
        if let file { return try write(file, blob, at: place, from: copy, request) }
        let payload = reader.payload(of: blob)
        defer { payload.wipe() }
        _ = try writer.write(payload, at: place, request)
    }
}

extension RecordReader {
    /// Compares the contents of a place, opened whole, with a blob of a copy.
    ///
    /// - Parameter difference: Names what an accepted blob in the place is if it differs; nil if it does not.
    /// - Throws: `StoreError` for a place that cannot be read or must not be replaced; `.tooNew`.
    func compare(
        _ blob: borrowing AcceptedBlob, at place: RecordPlace,
        _ difference: (borrowing AcceptedBlob) throws(StoreError) -> String?
    ) throws(StoreError) -> (Restoration.Place, PlaceContents) {
        func refused(_ error: StoreError) -> Restoration.Place {
            .taken("a blob that readers refuse (\(error.code.rawValue))")
        }
        watermarks.refresh()
        let (found, held) = try contents(of: place)
        guard found.hash != nil || found.refusal != nil else {
            return (found.isPurged ? .taken("a deletion") : .empty, found)
        }
        switch try existing(at: place) {
        case .nothing: throw .changedPlace(place)
        case .tombstone: return (.taken("a deletion"), found)
        case .refused(let refusal): return (refused(refusal.rejection), found)
        case .value(let header):
            guard header.schemaVersion <= blob.header.schemaVersion else {
                throw StoreError(
                    .tooNew, "restore", place.name.text,
                    "The container has schema version \(header.schemaVersion); the copy has "
                        + "\(blob.header.schemaVersion).",
                    advice: "To return to the older version on purpose, delete the record first.")
            }
            guard let held else { return (.taken("a blob that readers refuse (\(StoreError.Code.tooLarge))"), found) }
            do throws(StoreError) {
                return (try difference(opened(held, at: place)).map { .taken($0) } ?? .same, found)
            } catch {
                guard error.isRejection else { throw error }
                return (refused(error), found)
            }
        }
    }

    /// Returns the contents of a place, with the bytes of a blob that can be read whole.
    private func contents(of place: RecordPlace) throws(StoreError) -> (PlaceContents, [UInt8]?) {
        do throws(BackendError) {
            let blob = try backend.read(place.key, limit: maximumBlobSize + BlobOpener.signedAllowance)?.bytes
            let hash = blob.map { BLAKE2b.hash($0, count: 32) }
            return (
                PlaceContents(hash: hash, isPurged: blob == nil && watermarks.isPurged(place.context.nameTag)), blob
            )
        } catch {
            let refusal = StoreError(error, "restore", place.name.text)
            switch error.code {
            case .notABlob: return (PlaceContents(hash: nil, isPurged: false, refusal: refusal.code), nil)
            case .tooLarge:
                let head = try head(at: place, "restore").map { BLAKE2b.hash($0, count: 32) }
                return (PlaceContents(hash: head, isPurged: false, refusal: refusal.code), nil)
            default: throw refusal
            }
        }
    }

    /// Throws if a place has other contents than those found before.
    func require(_ found: PlaceContents, at place: RecordPlace) throws(StoreError) {
        watermarks.refresh()
        guard try contents(of: place).0 == found else { throw .changedPlace(place) }
    }

    /// Returns the value of a blob, to be sealed again in the class of its key.
    func payload(of blob: borrowing AcceptedBlob) -> RecordPayload {
        let (header, protection) = (blob.header, keys.protection(of: blob.header))
        return blob.opened.plaintext.withUnsafeBytes { bytes in
            RecordPayload(
                Data(bytes), codec: header.codec, schemaVersion: header.schemaVersion, notAfter: header.notAfter,
                protection: protection)
        }
    }
}

extension RecordWriter {
    /// Throws early the errors that the write of a copy's blob would throw.
    func requireRestorable(_ blob: borrowing AcceptedBlob, at place: RecordPlace) throws(StoreError) {
        _ = try reader.requireRight(to: place, deleting: false)
        // Readers would refuse the sequence after it.
        if case .refused(let refused) = reader.judged(blob.opened.header, place),
            refused.rejection.code == .sequenceJump
        {
            throw refused.rejection
        }
        try requireKey(for: reader.keys.protection(of: blob.header) ?? .afterFirstUnlock)
        let payload = reader.payload(of: blob)
        defer { payload.wipe() }
        try requireSafeStructure(of: payload, named: place.name.text)
    }

    /// Throws if a class cannot be sealed now. A write makes the first key of *when unlocked*.
    private func requireKey(for protection: ProtectionClass) throws(StoreError) {
        do throws(VaultError) { _ = try reader.keys.vault.activeKey(for: protection) } catch {
            if protection == .whenUnlocked, error.code == .noActiveKey { return }
            throw StoreError(error, "write with")
        }
    }

    /// Creates the request for a blob of a copy: users who have accepted that blob accept the new one, and it is no
    /// younger than it was.
    func request(restoring header: BlobHeader) -> WriteRequest {
        var request = request()
        request.lowestSequence = min(header.sequence, .max - 1) + 1
        request.sealedAt = header.sealedAt
        return request
    }
}

extension AcceptedBlob {
    /// Returns `true` if another blob has the same value, as after a rotation or an earlier restoration.
    fileprivate func hasValue(of other: borrowing AcceptedBlob) -> Bool {
        guard header.codec == other.header.codec, header.schemaVersion == other.header.schemaVersion,
            header.notAfter == other.header.notAfter
        else { return false }
        return opened.plaintext.withUnsafeBytes { first in
            other.opened.plaintext.withUnsafeBytes { second in first.elementsEqual(second) }
        }
    }
}

extension StoreError {
    static func changedPlace(_ place: RecordPlace) -> StoreError {
        StoreError(
            .conflict, "restore", place.name.text, "Another program has written it since it was examined.",
            advice: "Examine it, and run the command again.")
    }

    static func changedCopy(of place: RecordPlace) -> StoreError {
        StoreError(
            .conflict, "restore", place.name.text, "The copy was changed since it was examined.",
            advice: "Find out what changes the copy, and run the command again.")
    }
}
