internal import AppGroups
internal import AuditReports
internal import CryptoPrimitives
internal import KeyVault
internal import PropertyLists
internal import SealedState
internal import Sealing
internal import SharedFiles

/// The examination of one blob: its header without any key, the rest with a key.
struct Inspector {
    let target: InspectionTarget
    let group: AppGroup?
    /// The name and the place that the stream must have, if the caller stated them.
    let stream: (name: String, context: BlobContext)?

    /// Reads the header's shape.
    func header() throws(Failure) -> Inspection {
        let bytes = try target.input.peek(BlobLayout.headerSize)
        let header: BlobHeader
        do throws(SealingError) { header = try UnverifiedHeader(parsing: bytes).claimed } catch {
            throw Failure(error, "inspect", target.input.name)
        }
        let isRegular = target.input.attributes.kind == .regular
        var inspection = Inspection(
            place: target.input.name, size: isRegular ? target.input.attributes.size : nil, header: header)
        inspection.record = target.record
        inspection.isNameless = group.map { header.nameTag == BlobContext(streamOf: $0).nameTag } ?? false
        inspection.group = group.map { group in
            (group.identifier, BlobContext(streamOf: group).groupTag == header.groupTag)
        }
        return inspection
    }

    /// Opens the blob with the group's keys and compares it with the accepted states, which do not change.
    func open(_ inspection: inout Inspection, with store: SealedStore) throws(Failure) {
        if inspection.header.kind == .record, inspection.record == nil {
            inspection.record = try name(of: inspection.header.nameTag, in: store)
        }
        inspection.protection = store.reader.keys.protection(of: inspection.header)
        do throws(Failure) {
            switch inspection.header.kind {
            case .record: try openRecord(&inspection, store)
            case .stream: try openStream(&inspection, store)
            case .vault:
                inspection.verdict = .unverified("it is part of a vault, which sealctl vault commands open")
            }
        } catch {
            guard error.status != .inputOutput else { throw error }
            // A locked blob is not refused, because it may be valid.
            guard error.status != .locked else {
                inspection.verdict = .unverified(error.message)
                return
            }
            inspection.verdict = .refused(error)
        }
    }

    private func openRecord(_ inspection: inout Inspection, _ store: SealedStore) throws(Failure) {
        let limit = BlobLayout.blobSize(plaintextSize: largestPlaintext(of: inspection, store))
        let context = try context(for: inspection, store)
        let keys = try keys(for: inspection, store)
        let opened = try target.input.withContents(limit: limit + BlobOpener.signedAllowance) { blob throws(Failure) in
            do throws(SealingError) {
                return try BlobOpener.open(blob, context: context, keys: keys, limit: limit)
            } catch { throw Failure(error, "inspect", target.input.name) }
        }
        inspection.verdict = .verified
        inspection.judgedFreshness = Freshness.word(of: opened.header.header, judgedBy: store)
        judge(&inspection, opened.header, store)
        if let record = inspection.record {
            judge(&inspection, store.authorisation(of: opened, named: record), opened, store)
        }
        guard !opened.header.header.flags.contains(.tombstone) else { return }
        inspection.payload = try payload(opened, store)
    }

    /// Returns the largest size in bytes. A suite of defaults may be larger than any other record.
    private func largestPlaintext(of inspection: Inspection, _ store: SealedStore) -> Int {
        let isSuite = inspection.record?.hasPrefix(DefaultsSuite.namePrefix) == true
        return isSuite
            ? max(store.options.maximumRecordSize, DefaultsOptions().maximumSize) : store.options.maximumRecordSize
    }

    /// Returns the group's keys. A key that requires its user is taken from the vault for this inspection only.
    private func keys(for inspection: Inspection, _ store: SealedStore) throws(Failure) -> Keyring {
        try Failure.onVault { () throws(VaultError) in try store.vault.keyring(toOpen: inspection.header.keyID) }
    }

    /// Returns the place of the blob. Without a known name the blob is outside its place, and any name of this group is
    /// accepted.
    private func context(for inspection: Inspection, _ store: SealedStore) throws(Failure) -> BlobContext? {
        if let record = inspection.record {
            return try Failure.onStore { () throws(StoreError) in try store.places.place(stored: record).context }
        }
        guard inspection.group?.fits != false else {
            throw Failure(
                SealingError(.wrongGroup, "inspect", "It was sealed for another app group."), "inspect",
                target.input.name)
        }
        return nil
    }

    private func judge(_ inspection: inout Inspection, _ header: VerifiedHeader, _ store: SealedStore) {
        let mark = store.watermarks.mark(of: header.header.nameTag)
        let accepted = mark.map { "\($0.epoch).\($0.sequence)" } ?? "none"
        let found = "\(header.header.epoch).\(header.header.sequence)"
        let (standing, code) = Self.standing(store.reader.verdict(on: header))
        inspection.watermark = (accepted, mark == nil ? "first contact" : standing)
        guard let code else { return }
        let reason =
            store.reader.isFormer(header.header)
            ? "It is \(found), of a former container of the group."
            : "It is \(found), \(standing); \(accepted) was accepted before."
        inspection.verdict = .refused(Failure(StoreError(code, "inspect", target.input.name, reason)))
    }

    /// Judges a record by the roster. A record that was refused before has no valid writer.
    private func judge(
        _ inspection: inout Inspection, _ authorisation: Authorisation, _ opened: borrowing BlobOpener.Opened,
        _ store: SealedStore
    ) {
        if let refusal = authorisation.refusal {
            inspection.verdict = .refused(
                Failure(StoreError(refusal.code, "inspect", target.input.name, refusal.reason)))
        }
        guard case .verified = inspection.verdict, case .authorised(let writer) = authorisation,
            let trailer = opened.trailer
        else { return }
        inspection.writer = Signer(id: writer.description, rosterVersion: trailer.rosterVersion, in: store)
    }

    private static func standing(_ verdict: Watermark.Verdict) -> (text: String, refusal: StoreError.Code?) {
        switch verdict {
        case .advances: ("newer", nil)
        case .same: ("this one", nil)
        case .replayed: ("an older one", .replayed)
        case .forked: ("another blob of the same order", .forked)
        case .jumps: ("too far ahead", .sequenceJump)
        }
    }

    private func payload(_ opened: borrowing BlobOpener.Opened, _ store: SealedStore) throws(Failure) -> JSONPayload {
        let codec = opened.header.header.codec
        return try opened.plaintext.withUnsafeBytes { bytes throws(Failure) in
            if codec == .binaryPropertyList { return try shown(bytes) }
            try RecordJSON.check(bytes, codec: codec, named: target.input.name, store.options)
            return JSONPayload(compact: JSONLayout.compact(bytes), indented: JSONLayout.indented(bytes))
        }
    }

    private func shown(_ list: UnsafeRawBufferPointer) throws(Failure) -> JSONPayload {
        do throws(StructureFault) {
            let text = PropertyListJSON.text(of: try PropertyList.parse(list).value).text
            return Array(text.utf8).withUnsafeBytes { bytes in
                JSONPayload(compact: JSONLayout.compact(bytes), indented: JSONLayout.indented(bytes))
            }
        } catch {
            throw Failure(
                .dataError, "undecodable",
                "cannot read \(target.input.name): it is authentic but not a property list: \(error.reason)",
                hint: "Do not use it: examine the program that wrote it.")
        }
    }

    private func openStream(_ inspection: inout Inspection, _ store: SealedStore) throws(Failure) {
        let progress = Progress("verifying", total: target.input.extent?.count)
        let keys = try keys(for: inspection, store)
        let context =
            stream?.context ?? BlobContext(streamOf: store.group, tagged: inspection.header.nameTag)
        do throws(StreamFailure<FileError>) {
            try StreamOpener.verify(from: target.input.source(progress), context: context, keys: keys)
        } catch { throw Failure(error, "inspect", target.input.name) }
        inspection.record = stream?.name
        inspection.verdict = .verified
    }

    /// Returns the name of the record with this tag, if the group has one. A header contains only the tag of its name.
    private func name(of tag: NameTag, in store: SealedStore) throws(Failure) -> String? {
        let records = try Failure.onStore { () throws(StoreError) in
            try store.list(includingReserved: true)
        }
        return records.first { (try? store.places.place(stored: $0.name).context.nameTag) == tag }?.name
    }
}

/// The results of `inspect` for one blob.
struct Inspection {
    /// The source of the blob.
    let place: String
    /// The size of the file in bytes; `nil` for a pipe.
    let size: Int64?
    /// The header, which is authentic only if the verdict is `verified`.
    let header: BlobHeader
    /// The group that the blob was compared with, and the result.
    var group: (identifier: String, fits: Bool)?
    /// The name of the record or stream, if it is known.
    var record: String?
    /// True if the blob is a stream of the group without a name.
    var isNameless = false
    var verdict = InspectionVerdict.unverified("no group was named")
    /// The class of the key that it was sealed under, if the vault knows that key.
    var protection: ProtectionClass?
    /// The judgement of readers, `current`, `expired` or `future`, if the header was verified.
    var judgedFreshness: String?
    /// The order that was accepted before, as `epoch.sequence`, and the relation of this blob to it.
    var watermark: (accepted: String, standing: String)?
    /// The writer of a signed record that readers accept.
    var writer: Signer?
    /// The contents of a verified JSON record.
    var payload: JSONPayload?
}

/// The verdict on the blob.
enum InspectionVerdict {
    /// Header and contents are authentic and in their place.
    case verified
    /// The blob was not opened, for the given reason.
    case unverified(String)
    /// The blob is refused, for the given reason.
    case refused(Failure)
}

/// JSON in one line, and in the form that is shown.
struct JSONPayload {
    let compact: String
    let indented: String
}

/// The writer of a record whose signature readers accept.
struct Signer {
    /// The id, as 32 hexadecimal digits.
    let id: String
    /// The label in the valid roster.
    let label: String?
    /// The version of the roster under which the writer signed.
    let rosterVersion: UInt64

    init(id: String, rosterVersion: UInt64, in store: SealedStore) {
        self.id = id
        self.rosterVersion = rosterVersion
        label = store.rosterState?.roster?.roster.writers.first { $0.id.description == id }?.label
    }

    /// The writer as text: `app (8f14e45fceea167a5a36dedd4bea2543), roster version 2`.
    var text: String { "\(label.map { "\($0) (\(id))" } ?? id), roster version \(rosterVersion)" }

    var json: JSONText {
        .object([
            ("id", .string(id)), ("label", .optional(label)), ("rosterVersion", .unsigned(rosterVersion)),
        ])
    }
}
