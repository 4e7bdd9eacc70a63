internal import AppGroups
internal import KeyVault
internal import PropertyLists
internal import SealedState
internal import Sealing
internal import SharedFiles

/// Opens a sealed blob as a reader of its place would, and reports the reader's result.
///
/// It goes further than a reader where that gives more information: a blob in the wrong place is verified without its
/// place, to distinguish a moved blob from one with a changed header.
struct BlobExaminer: Sendable {
    let scope: AuditScope

    /// - Returns: `nil` if the subject is not a sealed blob in a place of its own.
    /// - Throws: `FileError` if the blob cannot be read, `.notFound` if it is gone.
    func examine(_ subject: AuditSubject) throws(FileError) -> BlobExamination? {
        guard subject.kind.isSealed, let header = subject.header else { return nil }
        switch header {
        case .success(let header): return try examine(subject, claimed: header.claimed)
        case .failure(let error): return refusal(subject, error)
        }
    }

    private func examine(_ subject: AuditSubject, claimed: BlobHeader) throws(FileError) -> BlobExamination {
        if claimed.kind == .vault { return BlobExamination(verdict: .unverified) }
        if let group = scope.group, let cover = MailFile.coverContext(of: subject.path, claimed, in: group) {
            return messages(subject, cover)
        }
        if let misplaced = misplaced(subject, claimed) { return misplaced }
        var examination = try contents(subject, claimed)
        if case .refused = examination.verdict { return examination }
        let judge = BlobJudge(scope: scope, place: FindingPlace(subject.path, in: scope))
        examination.findings += judge.freshness(claimed, isVerified: examination.verdict == .verified)
        if claimed.kind == .record, subject.attributes.size > BlobLayout.blobSize(plaintextSize: largest(subject)) {
            examination.findings.append(judge.oversized(subject.attributes.size))
        }
        return examination
    }

    private func payloadJudge(_ subject: AuditSubject) -> PayloadJudge {
        let usual = StoreOptions()
        let limits = StructureLimits(
            depth: usual.maximumDepth, values: usual.maximumValues, size: largest(subject))
        return PayloadJudge(limits: limits, now: scope.now)
    }

    /// Returns the limit of readers with the usual limits. A defaults suite may be larger than a record.
    private func largest(_ subject: AuditSubject) -> Int {
        let name = subject.place.recordName.flatMap { try? RecordName(stored: $0) }
        let isSuite = name.flatMap(DefaultsSuite.init(holding:)) != nil
        return isSuite
            ? max(scope.limits.maximumRecordSize, DefaultsOptions().maximumSize) : scope.limits.maximumRecordSize
    }

    // MARK: Place

    /// Returns the refusal of a blob outside its original place, or `nil` if its place is allowed.
    private func misplaced(_ subject: AuditSubject, _ claimed: BlobHeader) -> BlobExamination? {
        guard let fault = BlobPlaceRule(scope: scope).fault(of: claimed, at: subject.place) else { return nil }
        let place = FindingPlace(subject.path, in: scope)
        switch verification(of: subject, in: nil) {
        case .failure(let error) where error.code == .wrongCommitment:
            return .refused(
                fault.code.rawValue,
                AuditCheck.blobTampered.finding(
                    at: place, "Its header is not authentic under its key: a tag or another field of it was changed."))
        case .success:
            return .refused(fault.code.rawValue, AuditCheck.blobWrongPlace.finding(at: place, fault.detail))
        default:
            return .refused(
                fault.code.rawValue,
                AuditCheck.blobWrongPlace.finding(at: place, fault.detail, confidence: .likely))
        }
    }

    /// Verifies the header alone. Returns `nil` without keys.
    private func verification(
        of subject: AuditSubject, in context: BlobContext?
    ) -> Result<VerifiedHeader, SealingError>? {
        guard let store = scope.store,
            let head = try? EntryContents(of: scope).prefix(of: subject.entry, count: BlobLayout.headerSize),
            let id = try? UnverifiedHeader(parsing: head).claimed.keyID,
            let keys = try? store.vault.keyring(toOpen: id)
        else { return nil }
        do throws(SealingError) {
            return .success(
                try head.span.withUnsafeBytes { head throws(SealingError) in
                    try BlobOpener.verifyHeader(head, context: context, keys: keys)
                })
        } catch {
            return .failure(error)
        }
    }

    // MARK: Mailboxes

    /// Examines a file of messages: the blob that begins it, and each message.
    private func messages(_ subject: AuditSubject, _ cover: BlobContext) -> BlobExamination {
        let place = FindingPlace(subject.path, in: scope)
        switch verification(of: subject, in: cover) {
        case nil: return BlobExamination(verdict: .unverified)
        case .failure(let error): return refusal(subject, error)
        case .success(let header):
            guard let store = scope.store,
                let keys = try? store.vault.keyring(toOpen: header.header.keyID),
                let (count, faults) = try? store.mailFaults(of: subject.path)
            else { return BlobExamination(verdict: .unverified) }
            if let retired = BlobJudge(scope: scope, place: place).retirement(of: header, keys) { return retired }
            guard let first = faults.first else { return BlobExamination(verdict: .verified) }
            let check = BlobRefusal.check(first.code)
            return .refused(
                first.code.rawValue,
                check.finding(
                    at: place, "Of its \(count) messages \(faults.count) are refused. The first one: \(first.reason)"))
        }
    }

    // MARK: Contents

    private func contents(_ subject: AuditSubject, _ claimed: BlobHeader) throws(FileError) -> BlobExamination {
        guard let store = scope.store else { return BlobExamination(verdict: .unverified) }
        guard subject.attributes.size <= scope.limits.maximumSealedBytes else {
            throw FileError(.tooLarge, operation: "open", path: scope.root.display(subject.path))
        }
        let place = FindingPlace(subject.path, in: scope)
        let context = BlobPlaceRule(scope: scope).context(of: claimed, at: subject.place)
        let keys: Keyring
        do throws(VaultError) { keys = try store.vault.keyring(toOpen: claimed.keyID) } catch {
            // A locked vault is not a fault.
            if error.code == .locked { return BlobExamination(verdict: .unverified, isLocked: true) }
            return BlobExamination(
                verdict: .unverified, findings: [AuditCheck.vaultRefused.finding(at: place, error.reason)])
        }
        var reader = BlobReader(
            contents: EntryContents(of: scope), keys: keys, limits: scope.limits, judge: payloadJudge(subject))
        if let name = subject.place.recordName, store.isGoverned(name) { reader.governed = (name, store) }
        var last: VerifiedHeader?
        for _ in 0..<Self.maximumReadings {
            switch try reader.open(subject.entry, context: context) {
            case .failure(let error): return refusal(subject, error)
            case .success(let contents):
                let header = contents.header
                guard header.header.kind == .record else { return BlobExamination(verdict: .verified) }
                let judge = BlobJudge(scope: scope, place: place)
                var examination =
                    judge.retirement(of: header, keys)
                    ?? judge.downgrade(of: header, as: subject.place.recordName, keys, in: store)
                    ?? judge.authority(contents.authorisation)
                    ?? judge.order(of: header, seenBy: store)
                if examination.verdict == .verified {
                    examination.findings += contents.remarks.map { $0.finding(at: place) }
                }
                // A concurrent writer may replace the blob between this read and the verdict, which then looks like a
                // replay. Only a blob that is read twice is judged.
                if examination.verdict == .verified || header == last { return examination }
                last = header
            }
        }
        return BlobExamination(verdict: .unverified)
    }

    /// The limit on reads. A record that changes on each read is being written faster than it can be judged.
    private static let maximumReadings = 16

    private func refusal(_ subject: AuditSubject, _ error: SealingError) -> BlobExamination {
        let code = StoreError.Code(error.code)
        let finding = BlobRefusal.check(code).finding(at: FindingPlace(subject.path, in: scope), error.detail)
        return .refused(code.rawValue, finding)
    }
}

/// The result of examining a sealed blob.
struct BlobExamination: Sendable {
    var verdict: Verdict
    var findings: [Finding] = []
    /// True if no reader of this user has accepted the record before, so that a replay is not detectable.
    var isFirstContact = false
    /// True if it was not opened because its key requires an unlocked vault.
    var isLocked = false

    /// Returns the examination of a refused blob with its finding.
    static func refused(_ code: String, _ finding: Finding) -> BlobExamination {
        BlobExamination(verdict: .refused(code), findings: [finding])
    }
}

/// The checks that answer to refusals of the format.
enum BlobRefusal {
    static func check(_ code: StoreError.Code) -> AuditCheck { checks[code] ?? .blobMalformed }

    private static let checks: [StoreError.Code: AuditCheck] = [
        .unsupportedFormat: .blobUnsupported, .wrongGroup: .blobWrongPlace, .wrongKind: .blobWrongPlace,
        .wrongName: .blobWrongPlace, .unknownKey: .blobUnknownKey, .wrongEpoch: .blobWrongEpoch,
        .wrongCommitment: .blobTampered, .wrongSuite: .blobTampered, .retiredEpoch: .blobRetired,
        .tampered: .blobTampered, .tooLarge: .blobOversized,
    ]
}

/// The places of blobs: a record belongs in its own file among the records, or in the container's database, a stream
/// anywhere else.
struct BlobPlaceRule: Sendable {
    let scope: AuditScope

    /// The reason why a blob does not belong in its place, by the claims of its header.
    struct Fault: Sendable {
        /// The error that a reader reports.
        let code: StoreError.Code
        let detail: String
    }

    /// Returns the context that a blob in a place is bound to, or `nil` if the group is unknown.
    func context(of claimed: BlobHeader, at place: ContainerPlace) -> BlobContext? {
        guard let group = scope.group else { return nil }
        // A stream's name is known only to the programs that use it.
        if claimed.kind == .stream { return BlobContext(streamOf: group, tagged: claimed.nameTag) }
        return BlobContext(
            group: group.identifier, kind: claimed.kind, name: claimed.kind == .record ? place.recordName ?? "" : "")
    }

    /// Returns the fault of a blob's place, or `nil` if the place is allowed. Without a group only the kind of place is
    /// judged.
    func fault(of claimed: BlobHeader, at place: ContainerPlace) -> Fault? {
        let context = context(of: claimed, at: place)
        if let context, claimed.groupTag != context.groupTag {
            return Fault(code: .wrongGroup, detail: "It was sealed for another app group.")
        }
        if claimed.kind == .stream {
            return place.isAmongRecords
                ? Fault(code: .wrongKind, detail: "It is a stream in the directory of the records.") : nil
        }
        guard place.recordName != nil else {
            return Fault(code: .wrongName, detail: elsewhere(claimed, place))
        }
        guard let context, claimed.nameTag != context.nameTag else { return nil }
        return Fault(code: .wrongName, detail: "It was sealed under another name\(owner(claimed)).")
    }

    private func elsewhere(_ claimed: BlobHeader, _ place: ContainerPlace) -> String {
        if scope.database != nil { return "It is a record where no reader looks for one\(owner(claimed))." }
        return place == .amongRecords
            ? "It is a record, and no record can have this file's name\(owner(claimed))."
            : "It is a record outside the directory of the records\(owner(claimed))."
    }

    private func owner(_ claimed: BlobHeader) -> String {
        scope.names[claimed.nameTag].map { "; it belongs to the record \($0)" } ?? ""
    }
}
