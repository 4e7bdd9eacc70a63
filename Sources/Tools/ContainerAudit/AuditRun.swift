internal import AppGroups
internal import Dispatch
internal import FoundationEssentials
internal import Glibc
internal import SealedState
internal import Sealing
internal import SharedFiles
internal import Synchronization
internal import SystemPackage

/// An audit from the first name to the report.
struct AuditRun {
    private let scope: AuditScope
    private let entries: ContainerEntries
    private let access: VaultAccess
    private let suppressions: Suppressions
    private let accepted: [NameTag]
    private let clock: @Sendable () -> Date

    /// Lists the names. No file is opened yet.
    ///
    /// - Parameters:
    ///   - database: The database of the container's records, or `nil` if they are files.
    ///   - clock: The time of day, which is read at the beginning and at the end.
    init(
        root: Directory, _ database: RecordDatabase?, group: (AppGroup, GroupsHome)?, access: VaultAccess,
        options: AuditOptions, clock: @escaping @Sendable () -> Date
    ) throws(FileError) {
        self.clock = clock
        let now = clock()
        // Taken before the names are listed, because a record that is accepted later may be missing from the list.
        accepted = access.store?.acceptedNames ?? []
        let root = try root.withoutTrace()
        let rootAttributes = try root.attributes(".")
        entries = ContainerEntries(
            of: root, database, limits: options.limits, ProgressMeter(options.progress, total: nil))
        suppressions = Suppressions(options)
        self.access = access
        scope = AuditScope(
            root: root, rootAttributes: rootAttributes, realPath: LinkTarget.location(of: root) ?? root.path.string,
            database: database, group: group?.0, home: group?.1, store: access.store, options: options,
            ownFiles: OwnFiles(options.ownFiles), now: now, names: RecordNames(entries.all, group: group?.0))
    }

    /// Examines all entries.
    ///
    /// - Parameter vaultPath: The expected path of the group's missing vault, or `nil` if it is not missing.
    func report(missingVault vaultPath: String?) -> AuditReport {
        let examiner = EntryExaminer(scope: scope, suppressions: suppressions)
        var tally = examineEntries(examiner)
        tally.add(examiner.examineRoot())
        let files = tally.takeFiles()
        let above = Ancestors(scope: scope).judgement
        var whole = Refusals(scope: scope).unexplained(access.findings + above.findings)
        whole += scope.database?.findings(after: entries.listingError, in: scope) ?? []
        whole += ContainerInspectors.findings(files: files, entries: entries.all, scope: scope)
        if entries.isCut {
            let most = scope.limits.maximumEntries
            let detail = "Only the first \(most == 1 ? "name was" : "\(most) names were") examined."
            whole.append(AuditCheck.fileUnexamined.finding(at: FindingPlace(".", in: scope), detail))
        }
        var missing = MissingRecords(accepted: accepted)
        missing.carried = tally.carried
        whole += missing.findings(among: entries, in: scope)
        whole += RefusedContents(scope: scope).findings(besides: files)
        if let vaultPath, tally.ownBlobs > 0 { whole.append(vaultIsMissing(vaultPath, blobs: tally.ownBlobs)) }
        tally.add(examiner.outcome(of: whole))
        let findings = tally.listedFindings.sorted()
        return AuditReport(
            time: (scope.now, clock()), containerPath: scope.root.path.string.printable, group: scope.group?.identifier,
            withKeys: scope.store != nil, files: files, findings: findings,
            notes: access.notes + [scope.database?.note].compactMap(\.self) + above.notes + notes(on: tally),
            omissions: tally.allOmissions)
    }

    private func vaultIsMissing(_ vaultPath: String, blobs: Int) -> Finding {
        let place = FindingPlace(outside: vaultPath, group: scope.group?.identifier)
        return AuditCheck.vaultAbsent.finding(
            at: place, "\(blobs == 1 ? "1 sealed blob needs" : "\(blobs) sealed blobs need") it.")
    }

    private func notes(on tally: RunTally) -> [String] {
        var notes: [String] = []
        if tally.firstContacts > 0 {
            notes.append(
                "This user's programs have never accepted a state of \(tally.firstContacts) of the records: "
                    + "an older blob that was put back there could not be detected.")
        }
        if tally.lockedBlobs > 0 {
            notes.append(
                "\(tally.lockedBlobs) \(tally.lockedBlobs == 1 ? "blob is" : "blobs are") protected \"when unlocked\" and "
                    + "\(tally.lockedBlobs == 1 ? "was" : "were") not opened: the vault is locked.")
        }
        let unlisted = tally.allOmissions.unlisted.reduce(0) { $0 + $1.count }
        if unlisted > 0 {
            let subject = unlisted == 1 ? "1 finding is" : "\(unlisted) findings are"
            notes.append("\(subject) beyond the limits are counted and not listed.")
        }
        if !tally.ownFiles.isEmpty { notes.append(Self.note(onOwnFiles: tally.ownFiles)) }
        return notes + suppressions.notes + notesOnKnown(tally)
    }

    private static let mostOwnFiles = 4

    private static func note(onOwnFiles files: [String]) -> String {
        let rest = files.count - mostOwnFiles
        let names = files.sorted().prefix(mostOwnFiles).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
        return "The audit's own plaintext files are not reported: \(names)."
    }

    private func notesOnKnown(_ tally: RunTally) -> [String] {
        // Without the search, the report cannot show which known findings are gone.
        guard scope.options.searchesSecrets else { return [] }
        return [
            suppressions.note(onUnused: tally.usedIgnores),
            suppressions.note(onBaseline: tally.allOmissions.inBaseline),
        ].compactMap(\.self)
    }
}

// Examines the entries on all processors.
extension AuditRun {
    /// The number of entries per batch: small enough to keep all workers busy at the end, large enough to make
    /// scheduling negligible.
    private static let batchSize = 16

    private func examineEntries(_ examiner: EntryExaminer) -> RunTally {
        let all = entries.all
        let size = Self.batchSize
        let batches = (all.count + size - 1) / size
        let tally = Mutex(RunTally(entries: all.count, limits: scope.limits))
        let meter = ProgressMeter(scope.options.progress, total: all.count)
        Workers.run(batches: batches, workers: scope.options.workers ?? Workers.standard) { batch in
            let range = batch * size..<min(all.count, (batch + 1) * size)
            let outcomes = all[range].map { examiner.examine($0) }
            let found = tally.withLock { tally in
                tally.add(outcomes, batch: batch)
                return tally.listedFindings.total
            }
            let bytes = outcomes.reduce(0) { $0 + ($1.file?.size ?? 0) }
            meter.add(files: outcomes.count, bytes: bytes, findings: found)
        }
        return tally.withLock { $0 }
    }
}

/// The directories above the container.
private struct Ancestors {
    let scope: AuditScope

    var judgement: (findings: [Finding], notes: [String]) {
        do throws(FileError) {
            try scope.root.requireSafeAncestors()
            return ([], [])
        } catch {
            let place = FindingPlace(outside: error.path, group: scope.group?.identifier)
            let check = AuditCheck.ancestorWritable
            switch error.code {
            case .unsafeMode:
                return ([check.finding(at: place, "Every user may write there.", remedy: error.advice)], [])
            case .wrongOwner where isOwnedByRunner:
                let detail = "It belongs to another user, who may rename its entries."
                return ([check.finding(at: place, detail, remedy: error.advice)], [])
            case .wrongOwner: return ([], [])
            default: return ([], ["The directories above could not be examined: \(error.description)"])
            }
        }
    }

    /// Root may audit another user's container, in directories of that user.
    private var isOwnedByRunner: Bool { geteuid() != 0 || scope.rootAttributes.uid == 0 }
}

/// The scope of an audit, the same for all of its files.
struct AuditScope: Sendable {
    /// The open container, through which every path is accessed.
    let root: Directory
    /// The attributes of the container.
    let rootAttributes: FileAttributes
    /// The container's path without links.
    let realPath: String
    /// The database of the container's records, or `nil` if they are files.
    let database: RecordDatabase?
    /// The group, if known.
    let group: AppGroup?
    /// The home of the group, if known.
    let home: GroupsHome?
    /// Opens blobs and provides the accepted states; `nil` without keys.
    let store: SealedStore?
    let options: AuditOptions
    let ownFiles: OwnFiles
    let now: Date
    /// The records in their place, to identify the record of a moved blob.
    let names: RecordNames

    var limits: AuditLimits { options.limits }

    /// The place of findings on all records.
    var recordsPath: String { database == nil ? ContainerLayout.records : RecordDatabase.path }

    /// The time in milliseconds since 1970, as in headers.
    var nowMilliseconds: UInt64 { UInt64(max(0, now.timeIntervalSince1970 * 1000)) }
}

/// Threads that distribute batches among themselves. Each takes the next one when it has finished its last.
enum Workers {
    /// Runs a body for every batch and returns when all are done. Batches begin in order and end in any order.
    ///
    /// The caller's thread is one of the workers: if the system provides no other, it does all the work.
    static func run(batches: Int, workers: Int, _ body: @Sendable (Int) -> Void) {
        let next = Atomic(0)
        let count = max(1, min(workers, batches))
        guard count > 1 else { return work(through: batches, next, body) }
        DispatchQueue.concurrentPerform(iterations: count) { _ in work(through: batches, next, body) }
    }

    private static func work(through batches: Int, _ next: borrowing Atomic<Int>, _ body: @Sendable (Int) -> Void) {
        while true {
            let batch = next.add(1, ordering: .relaxed).oldValue
            guard batch < batches else { return }
            body(batch)
        }
    }

    /// The number of processors that this process may use.
    static var standard: Int { max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN))) }
}

/// Reports the progress of an audit, a few times a second at most.
final class ProgressMeter: Sendable {
    private struct State {
        var files = 0
        var bytes: Int64 = 0
        var next: ContinuousClock.Instant
    }

    private static let interval = Duration.milliseconds(100)

    private let listener: (@Sendable (AuditProgress) -> Void)?
    private let total: Int?
    private let state = Mutex(State(next: .now))

    /// - Parameter total: The number of all files, or `nil` while it is unknown.
    init(_ listener: (@Sendable (AuditProgress) -> Void)?, total: Int?) {
        self.listener = listener
        self.total = total
    }

    /// Counts completed files. The listener runs under the lock, so that its progress never decreases.
    func add(files: Int, bytes: Int64, findings: Int) {
        guard let listener else { return }
        state.withLock { state in
            state.files += files
            state.bytes += bytes
            let now = ContinuousClock.now
            guard now >= state.next || state.files == total else { return }
            state.next = now + Self.interval
            listener(
                AuditProgress(files: state.files, totalFiles: total, bytes: state.bytes, findings: findings))
        }
    }
}
