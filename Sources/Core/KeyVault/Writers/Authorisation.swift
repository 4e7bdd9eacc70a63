internal import CryptoPrimitives
package import Sealing

/// A roster's decision on one record.
package enum Authorisation: Sendable, Hashable {
    /// No pattern governs the name: holders of the group's keys may write it.
    case notGoverned
    /// Its writer has the right.
    case authorised(WriterID)
    /// Its writer is unknown or lacks the right; the reason is a sentence.
    case refused(String)
    /// The record was signed under a roster of that version, which is newer than this one.
    case rosterBehind(version: UInt64, isKnownWriter: Bool)
}

/// The evidence by which a roster judges an opened record.
package struct RecordEvidence {
    package let name: String
    package let header: BlobHeader
    package let trailer: RecordTrailer?
    /// The hash that was signed (`SignedRecord.digest`); empty for an unsigned record.
    package let digest: [UInt8]

    /// - Parameter contents: The contents without the trailer.
    package init(
        group: String, name: String, header: BlobHeader, trailer: RecordTrailer?, contents: UnsafeRawBufferPointer
    ) {
        self.name = name
        self.header = header
        self.trailer = trailer
        digest =
            trailer.map {
                SignedRecord(header, group: group, name: name)
                    .digest(rosterVersion: $0.rosterVersion, contents: contents)
            } ?? []
    }
}

extension SignedRoster {
    /// Judges a record: governed or not, signed, by a known writer with the right, with a signature that verifies.
    ///
    /// - Parameter verify: Checks the signature; the caller may cache results.
    package func authorise(
        _ record: RecordEvidence, verify: (WriterPublicKey, RecordTrailer, [UInt8]) -> Bool = WriterPublicKey.verify
    ) -> Authorisation {
        guard let rule = rule(for: record.name) else { return .notGoverned }
        guard let trailer = record.trailer else {
            return .refused("Its name is governed by the roster, and it is not signed.")
        }
        let writer = roster.writer(record.header.writer)
        guard let writer, writer.state != .revoked else {
            if trailer.rosterVersion > roster.version {
                return .rosterBehind(version: trailer.rosterVersion, isKnownWriter: false)
            }
            return .refused(
                writer == nil ? "Its writer is not in the roster." : "Its writer, \(writer?.label ?? ""), was revoked.")
        }
        guard verify(writer.publicKey, trailer, record.digest) else {
            return .refused("The signature was not made by the writer that it names.")
        }
        if trailer.rosterVersion > roster.version {
            return .rosterBehind(version: trailer.rosterVersion, isKnownWriter: true)
        }
        let isDeletion = record.header.flags.contains(.tombstone)
        if writer.state == .retired {
            let listed = Roster.RetainedRecord(
                name: record.name, sequence: record.header.sequence, signedDigest: record.digest)
            return writer.retained.contains(listed)
                ? .authorised(writer.id) : .refused("Its writer, \(writer.label), was retired.")
        }
        let needed: Roster.Rights = isDeletion ? .delete : .write
        guard rule.grants[writer.id, default: []].contains(needed) else {
            return .refused("Its writer, \(writer.label), may not \(isDeletion ? "delete" : "write") it.")
        }
        return .authorised(writer.id)
    }

    /// Returns the reason why a writer must not write or delete a name; `nil` if it may, or if the name is not
    /// governed.
    package func refusal(of writer: WriterID?, deleting: Bool, _ name: String) -> String? {
        guard let rule = rule(for: name) else { return nil }
        guard let writer else { return "Its name is governed by the roster, and this program has no writer key." }
        guard let known = roster.writer(writer) else { return "This program's writer key is not in the roster." }
        guard known.state == .active else { return "This program's writer, \(known.label), was \(known.state)." }
        guard rule.grants[writer, default: []].contains(deleting ? .delete : .write) else {
            return "This program's writer, \(known.label), may not \(deleting ? "delete" : "write") it."
        }
        return nil
    }
}

extension WriterPublicKey {
    /// Returns whether a record's signature is this writer's.
    package static func verify(_ key: WriterPublicKey, _ trailer: RecordTrailer, _ digest: [UInt8]) -> Bool {
        (try? key.key.verify(trailer.signature, of: SigningContext.writer.message(digest))) != nil
    }
}
