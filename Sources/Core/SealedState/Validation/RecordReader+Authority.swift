internal import AppGroups
internal import CryptoPrimitives
internal import FoundationEssentials
package import KeyVault
internal import SealedBackends
internal import Sealing
internal import SharedFiles

/// The rights to write records: the group's roster, if a team key is known (docs/spec/writers.md).
extension RecordReader {
    /// Throws for a vault that the roster has ended, however long it stays in place.
    ///
    /// - Throws: `StoreError` `.vaultRolledBack`.
    func requireStateAboveFloor() throws(StoreError) {
        guard let floor = authority?.current().roster?.roster.floor, floor.isAbove(keys.vault.state) else { return }
        // The roster may be newer than the vault's last read.
        _ = try? keys.vault.currentKeyring()
        guard floor.isAbove(keys.vault.state) else { return }
        throw StoreError(VaultError.belowFloor(keys.vault.path, keys.vault.state, floor), "use the vault of")
    }

    /// Throws for a record whose roster does not let its writer write it. Call it before anything of the record is
    /// remembered.
    ///
    /// - Returns: The writer whose signature was verified; nil for a name that no roster governs.
    /// - Throws: `StoreError` `.notAuthorized`, `.rosterBehind`, `.vaultRolledBack`.
    @inline(__always)
    func requireAuthority(
        of opened: borrowing BlobOpener.Opened, at place: RecordPlace
    ) throws(StoreError) -> WriterID? {
        guard let authority else { return nil }
        // The roster is that of the container that was opened.
        guard anchor.isInPlace else { throw moved("read", place.name.text) }
        try requireStateAboveFloor()
        return try require(authorisation(of: opened, at: place, authority), place)
    }

    func authorisation(
        of opened: borrowing BlobOpener.Opened, at place: RecordPlace, _ authority: RosterAuthority
    ) -> Authorisation {
        let header = opened.header.header
        let trailer = opened.trailer
        guard authority.governs(place.name.text) else { return .notGoverned }
        let evidence = opened.plaintext.withUnsafeBytes { contents in
            RecordEvidence(
                group: group.identifier, name: place.name.text, header: header, trailer: trailer, contents: contents)
        }
        return authority.authorise(evidence)
    }

    private func require(_ authorisation: Authorisation, _ place: RecordPlace) throws(StoreError) -> WriterID? {
        switch authorisation {
        case .notGoverned: return nil
        case .authorised(let writer): return writer
        case .refused(let reason): throw StoreError(.notAuthorized, "read", place.name.text, reason)
        case .rosterBehind(let version, _):
            let known = authority?.current().roster.map { "\($0.roster.version)" } ?? "none"
            throw StoreError(
                .rosterBehind, "read", place.name.text,
                "It was signed under version \(version) of the roster; this program has \(known).")
        }
    }

    /// Returns the records of a part of the list that the roster states individually, and whose files are missing though
    /// a state of theirs was accepted.
    func missingHeads(
        besides heads: [BlobHead], _ prefix: String, after first: BackendKey?, upTo last: BackendKey?
    ) -> [BlobHead] {
        guard let roster = authority?.current().roster else { return [] }
        let known = Set(heads.map(\.key))
        return roster.roster.rules.lazy.filter { $0.pattern.kind == .name }.map { BackendKey($0.pattern.path) }
            .filter { key in
                guard key.name.hasPrefix(prefix), first.map({ $0 < key }) ?? true, last.map({ key < $0 }) ?? true,
                    !known.contains(key), let place = try? self.places.place(stored: key.name)
                else { return false }
                return self.isMissing(place)
            }
            .map { BlobHead($0, bytes: []) }
    }
}

// MARK: Writes

extension RecordReader {
    /// Returns the verified header and the writer of a governed record, which is opened whole.
    func governedHeader(_ place: RecordPlace) throws(StoreError) -> ListedHeader? {
        guard let held = try held(at: place, "list") else { return nil }
        let opened = try openWhole(held.bytes, "list", place, limit: maximumBlobSize)
        let writer = try requireAuthority(of: opened, at: place)
        let version = writer == nil ? nil : opened.trailer?.rosterVersion
        return ListedHeader(header: opened.header, writer: writer, rosterVersion: version)
    }

    /// Returns the blob stored in a governed record's place. A writer continues from authorised blobs: a refused blob
    /// claims no sequence. One above the present limit for records is judged like any other.
    func governedBlob(at place: RecordPlace, _ seen: SeenHeader?) throws(StoreError) -> ExistingBlob {
        let blob: [UInt8]
        do throws(BackendError) {
            let held = try backend.read(place.key, limit: maximumJudgedSize + BlobOpener.signedAllowance)
            if isCompared { seen?.observe(held?.bytes) }
            guard let held else { return .nothing }
            blob = held.bytes
        } catch {
            switch error.code {
            case .tooLarge, .notABlob:
                let rejection = StoreError(error, "replace", place.name.text)
                return .refused(RefusedBlob(rejection: rejection, claim: .none, isFile: error.code == .tooLarge))
            default: throw StoreError(writing: error, place.name.text)
            }
        }
        do throws(StoreError) { return try authorisedBlob(blob, place) } catch {
            if Self.replaceableGoverned.contains(error.code) {
                return .refused(RefusedBlob(rejection: error, claim: .none))
            }
            let refused = try replaceable(blob, error, place)
            return .refused(RefusedBlob(rejection: refused.rejection, claim: .none, isFile: refused.isFile))
        }
    }

    private static let replaceableGoverned: Set<StoreError.Code> = [.tampered, .notAuthorized]

    private func authorisedBlob(_ blob: [UInt8], _ place: RecordPlace) throws(StoreError) -> ExistingBlob {
        let opened = try openWhole(blob, "replace", place, limit: maximumJudgedSize)
        guard let authority else { return judged(opened.header, place) }
        let authorisation = authorisation(of: opened, at: place, authority)
        // A later roster may know the writer, but any holder of the group's keys may claim so: only the signature of a
        // writer that this roster knows protects a blob from being replaced.
        if case .rosterBehind(let version, isKnownWriter: false) = authorisation {
            let reason = "It states version \(version) of the roster and a writer that is not in this one."
            throw StoreError(.notAuthorized, "replace", place.name.text, reason)
        }
        _ = try require(authorisation, place)
        return judged(opened.header, place)
    }

    /// Returns the grant that signs one write of a record.
    ///
    /// - Throws: `StoreError` `.notAuthorized` if the roster governs the name and does not authorise this program's
    ///   writer.
    func requireRight(to place: RecordPlace, deleting: Bool) throws(StoreError) -> WriteGrant {
        guard let authority else { return .unsigned }
        try requireStateAboveFloor()
        let key = options.writerKey
        if let reason = authority.refusal(of: key?.id, deleting: deleting, place.name.text) {
            throw StoreError(
                .notAuthorized, deleting ? "delete" : "write", place.name.text, reason,
                advice: "Give the program the writer key that the roster names: sealctl roster show.")
        }
        guard let key, let roster = authority.current().roster, roster.rule(for: place.name.text) != nil else {
            return .unsigned
        }
        return .signed(key, rosterVersion: roster.roster.version, authority)
    }
}

/// The authorisation of one write.
enum WriteGrant {
    /// No roster governs the name.
    case unsigned
    /// Its writer signs it.
    case signed(WriterKey, rosterVersion: UInt64, RosterAuthority)

    func seal(
        _ contents: UnsafeRawBufferPointer, as description: BlobDescription, key: SealingKey, at place: RecordPlace,
        in group: AppGroup
    ) -> SealedBlob {
        guard case .signed(let writer, let version, let authority) = self else {
            return BlobSealer.sealWhole(contents, as: description, key: key)
        }
        var description = description
        description.flags.insert(.signed)
        description.writer = writer.id
        let digest = SignedRecord(description, group: group.identifier, name: place.name.text)
            .digest(rosterVersion: version, contents: contents)
        let trailer = authority.sign(
            digest, rosterVersion: version, of: description.context.nameTag, with: writer
        ).encoded
        var plaintext = PlaintextBuffer(count: contents.count + trailer.count)
        plaintext.withUnsafeMutableBytes { bytes in
            UnsafeMutableRawBufferPointer(rebasing: bytes[..<contents.count]).copyMemory(from: contents)
            UnsafeMutableRawBufferPointer(rebasing: bytes[contents.count...]).copyBytes(from: trailer)
        }
        return plaintext.withUnsafeBytes { BlobSealer.sealWhole($0, as: description, key: key) }
    }
}

// MARK: For tools

extension Authorisation {
    /// The code and reason with which a reader refuses the record; `nil` if it does not.
    package var refusal: (code: StoreError.Code, reason: String)? {
        switch self {
        case .notGoverned, .authorised: nil
        case .refused(let reason): (.notAuthorized, reason)
        case .rosterBehind(let version, _):
            (.rosterBehind, "It was signed under version \(version) of the roster.")
        }
    }
}
