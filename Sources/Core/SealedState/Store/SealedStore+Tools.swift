internal import AppGroups
internal import FoundationEssentials
package import KeyVault
internal import SealedBackends
package import Sealing
package import SharedFiles

/// Records without a type, for tools: the same bytes, locks and checks as the typed calls.
extension SealedStore {
    /// Writes an encoded payload; the parameters are those of `write`.
    ///
    /// - Throws: The errors of `write`; `.unsafeStructure` or `.unencodable` for a payload that no reader gives to a
    ///   decoder.
    @discardableResult
    package func write(
        payload: RecordPayload, named name: String, onlyIf condition: WriteCondition = .always,
        holding fence: LeaseFence? = nil, durability: Durability? = nil, timeout: Duration? = nil
    ) throws(StoreError) -> UInt64 {
        let request = writer.request(onlyIf: condition, holding: fence, durability: durability, timeout: timeout)
        return try onPresentContainer { store throws(StoreError) in
            let place = try store.places.place(name)
            try store.writer.requireSafeStructure(of: payload, named: place.name.text)
            return try store.writer.write(payload, at: place, request)
        }
    }

    /// Returns a fresh, authentic payload after every check of a typed read except those that need the type.
    package func openPayload(named name: String) throws(StoreError) -> BlobOpener.Opened {
        try onPresentContainer { store throws(StoreError) in
            let (place, reader) = (try store.places.place(name), store.reader)
            let blob = try reader.acceptedBlob(at: place)
            try blob.opened.plaintext.withUnsafeBytes { bytes throws(StoreError) in
                try reader.requireSafeStructure(of: bytes, codec: blob.header.codec, named: place.name.text)
            }
            try reader.checkFreshness(of: blob, at: place)
            return blob.opened
        }
    }

    /// Makes the stored blob of a place durable, for any writer's blob.
    package func makeDurable(_ place: RecordPlace) throws(StoreError) {
        let head = try StoreError.onBackend("make durable", place.name.text) { () throws(BackendError) in
            try backend.settle(place.key)
        }
        if head == nil { throw reader.absent(place) }
    }

    /// The records that must exist, written or deleted, because a state of theirs was accepted; in no order. Purged
    /// records are excluded.
    package var acceptedNames: [NameTag] {
        let tags = mailTags
        return vault.acceptedRecords.filter {
            !tags.contains($0) && !watermarks.isPurged($0) && reader.presentMark(of: $0) != nil
        }
    }

    /// Makes every check of a read that needs no type. Nothing is accepted, reported or kept.
    ///
    /// - Parameters:
    ///   - name: The record's name; also one of the library's own, such as `_sealed/leases/refresh`.
    ///   - contents: A tool's check of a payload without its type; a rejection that it throws counts as the payload's.
    /// - Throws: `StoreError` if there is no blob to judge, such as `.absent`; a rejection, or `.locked`, is in the
    ///   result.
    package func examine(
        _ name: String, contents: (UnsafeRawBufferPointer, PayloadCodec) throws(StoreError) -> Void
    ) throws(StoreError) -> ReadExamination {
        let place = try places.place(stored: name)
        let suites = DefaultsOptions()
        if DefaultsSuite(holding: place.name) != nil, options.maximumRecordSize < suites.maximumSize {
            return try forSuites(suites).examine(name, contents: contents)
        }
        return try onPresentContainer { store throws(StoreError) in
            do throws(StoreError) {
                try store.reader.checkWithoutType(place, contents)
                return ReadExamination(error: nil)
            } catch {
                guard error.code.check != nil, store.isFinal(error) else { throw error }
                return ReadExamination(error: error)
            }
        }
    }
}

extension SealedStore {
    /// Lists the records of the group by name, with their verified headers. Deleted records are included, and marked.
    ///
    /// Records whose names the group's roster governs are opened whole, since a header alone shows no authority. A
    /// record that the roster names and whose file is missing is listed as `.missing`.
    ///
    /// A list in pages reads no more than it returns if the backend finds names by prefix; files are listed whole for
    /// each page.
    /// - Parameters:
    ///   - prefix: The beginning of the names; all names unless stated.
    ///   - name: The last name of the page before; nil for the first page.
    ///   - limit: The largest number of records.
    /// - Returns: Fewer than `limit` only at the end; by the bytes of the names.
    /// - Throws: `StoreError` when the container cannot be read; a single refused record is listed with its rejection.
    public func list(
        prefix: String = "", after name: String? = nil, limit: Int = .max
    ) throws(StoreError) -> [RecordListing] {
        try list(includingReserved: false, prefix: prefix, after: name, limit: limit)
    }

    /// Lists the records, with the library's own records on demand.
    package func list(
        includingReserved: Bool, prefix: String = "", after name: String? = nil, limit: Int = .max
    ) throws(StoreError) -> [RecordListing] {
        try onPresentContainer { store throws(StoreError) in
            var listings: [RecordListing] = []
            var last = name.map { BackendKey($0) }
            while listings.count < limit {
                let count = limit - listings.count
                let heads = try store.reader.heads(prefix, after: last, limit: count)
                let isEnd = heads.count < count
                let missing = store.reader.missingHeads(
                    besides: heads, prefix, after: last, upTo: isEnd ? nil : heads.last?.key)
                listings += store.listings(of: heads + missing, includingReserved)
                if isEnd { break }
                last = heads.last?.key
            }
            guard store.isInPlace else { throw store.reader.moved("list", group.identifier) }
            return listings.count > limit ? Array(listings.prefix(limit)) : listings
        }
    }

    private func listings(of heads: [BlobHead], _ includingReserved: Bool) -> [RecordListing] {
        heads.sorted { $0.key < $1.key }
            .filter { includingReserved || (try? RecordName(stored: $0.key.name))?.isReserved != true }
            .compactMap(reader.listing)
    }

    /// Lists the records that this user can list, and the directories of others that it may not read: a tool shows the
    /// records, and fails. A program gets the error from `list`.
    package func listReadable(
        includingReserved: Bool, prefix: String = ""
    ) throws(StoreError) -> (records: [RecordListing], unreadable: [StoreError]) {
        try onPresentContainer { store throws(StoreError) in
            guard let files = store.reader.files else {
                return (try store.list(includingReserved: includingReserved, prefix: prefix), [])
            }
            let (heads, errors) = try StoreError.onBackend("list", group.identifier) { () throws(BackendError) in
                try files.scanReadable(prefix)
            }
            let missing = store.reader.missingHeads(besides: heads, prefix, after: nil, upTo: nil)
            let records = store.listings(of: heads + missing, includingReserved)
            guard store.isInPlace else { throw store.reader.moved("list", group.identifier) }
            return (records, errors.map { StoreError($0, "list", $0.path) })
        }
    }
}

extension FileBackend {
    /// Lists what can be listed, with the errors of the directories that this user may not read.
    fileprivate func scanReadable(
        _ prefix: String
    ) throws(BackendError) -> (heads: [BlobHead], unreadable: [FileError]) {
        var unreadable: [FileError] = []
        let names: [String]
        do throws(FileError) {
            names = try self.names { entry in
                guard let error = entry.error, entry.depth > 0, error.code == .permissionDenied else { return false }
                unreadable.append(error)
                return true
            }
        } catch { throw BackendError(error, "list", BackendKey(prefix)) }
        return (heads(of: names, prefix, after: nil, limit: .max), unreadable)
    }
}

/// The roster's judgement, for tools.
extension SealedStore {
    /// The known state of the group's roster; `nil` if no team key is known.
    package var rosterState: RosterAuthority.RosterState? { authority?.current() }

    /// Returns `true` if the roster judges records of a name, or would judge them if it existed.
    package func isGoverned(_ name: String) -> Bool { authority?.governs(name) ?? false }

    /// Returns the roster's judgement of an opened record; nothing is remembered.
    package func authorisation(of opened: borrowing BlobOpener.Opened, named name: String) -> Authorisation {
        guard let authority, let place = try? places.place(stored: name) else { return .notGoverned }
        return reader.authorisation(of: opened, at: place, authority)
    }

    /// Opens a record by its key alone: the person who reads it decides whether to believe it.
    ///
    /// - Throws: `StoreError` for a record that is absent, damaged or sealed under a key that is not available.
    package func openUnjudged(named name: String) throws(StoreError) -> BlobOpener.Opened {
        let place = try places.place(stored: name)
        guard let held = try reader.held(at: place) else { throw reader.absent(place) }
        return try reader.openWhole(held.bytes, "read", place, limit: reader.maximumBlobSize)
    }

    /// Returns the judgement of a record by a roster that is not in force yet.
    package func authorisation(ofRecord name: String, by roster: SignedRoster) throws(StoreError) -> Authorisation {
        let opened = try openUnjudged(named: name)
        let (header, trailer) = (opened.header.header, opened.trailer)
        return opened.plaintext.withUnsafeBytes { contents in
            roster.authorise(
                RecordEvidence(
                    group: group.identifier, name: name, header: header, trailer: trailer, contents: contents))
        }
    }

    /// Returns a record as listed in a roster that keeps the records of a retired writer; `nil` for an unsigned record.
    package func retainedRecord(named name: String) throws(StoreError) -> (WriterID, Roster.RetainedRecord)? {
        let opened = try openUnjudged(named: name)
        guard let trailer = opened.trailer else { return nil }
        let header = opened.header.header
        let digest = opened.plaintext.withUnsafeBytes {
            SignedRecord(header, group: group.identifier, name: name)
                .digest(rosterVersion: trailer.rosterVersion, contents: $0)
        }
        return (
            header.writer, Roster.RetainedRecord(name: name, sequence: header.sequence, signedDigest: digest)
        )
    }
}

extension SealedStore {
    /// Returns the copies of one record's blobs in the container's quarantine, in the order of their paths.
    ///
    /// A copy's record is determined by its header, or else by the note beside it. Any program that may write there can
    /// forge both.
    /// - Throws: `StoreError` `.invalidName`, `.file` if the quarantine cannot be listed.
    package func quarantinedCopies(of name: String) throws(StoreError) -> [QuarantinedCopy] {
        let place = try places.place(stored: name)
        let quarantine: Directory
        do throws(FileError) { quarantine = try container.root.directory(ContainerLayout.quarantine) } catch {
            if error.code == .notFound { return [] }
            throw StoreError(error, "search the quarantine for copies of", name)
        }
        let entries = try StoreError.onFiles("search the quarantine for copies of", name) { () throws(FileError) in
            try quarantine.entries()
        }
        return entries.compactMap { entry in
            entry.kind == .directory
                ? abandoned(entry.name, place, in: quarantine) : refused(entry.name, place, in: quarantine)
        }
    }

    private func refused(_ leaf: String, _ place: RecordPlace, in quarantine: Directory) -> QuarantinedCopy? {
        guard leaf.hasSuffix(ContainerLayout.recordSuffix) else { return nil }
        let note = QuarantineNote.parse(
            (try? quarantine.read(leaf + QuarantineNote.suffix, limit: QuarantineNote.maximumSize)) ?? [])
        let claimed = Self.header(of: leaf, in: quarantine)
        let isOfRecord =
            claimed.map { $0.nameTag == place.context.nameTag } == true || note.record == place.name.text
        guard isOfRecord else { return nil }
        return QuarantinedCopy(
            path: "\(ContainerLayout.quarantine)/\(leaf)", keptAt: note.time, reason: note.reason, claimed: claimed)
    }

    /// Returns a copy that was set aside with everything else when the vault was given up.
    private func abandoned(_ leaf: String, _ place: RecordPlace, in quarantine: Directory) -> QuarantinedCopy? {
        let path = "\(leaf)/\(place.path)"
        guard leaf.hasPrefix("abandoned-"), (try? quarantine.attributes(path)) != nil else { return nil }
        return QuarantinedCopy(
            path: "\(ContainerLayout.quarantine)/\(path)", keptAt: Self.stamp(leaf.dropFirst("abandoned-".count)),
            reason: "abandoned with its vault", claimed: Self.header(of: path, in: quarantine))
    }

    private static func header(of path: String, in quarantine: Directory) -> BlobHeader? {
        guard let (bytes, _) = try? quarantine.readPrefix(path, count: BlobLayout.headerSize) else { return nil }
        return try? UnverifiedHeader(parsing: bytes).claimed
    }

    /// Parses `20261121T070342Z`, possibly followed by more text.
    private static func stamp(_ text: Substring) -> Date? {
        let digits = text.prefix(16).filter(\.isNumber)
        guard digits.count == 14 else { return nil }
        func part(_ start: Int, _ count: Int) -> Substring { digits.dropFirst(start).prefix(count) }
        return DateText.date(
            from: "\(part(0, 4))-\(part(4, 2))-\(part(6, 2))T\(part(8, 2)):\(part(10, 2)):\(part(12, 2))Z")
    }
}
