internal import AppGroups
internal import AuditReports
internal import CryptoPrimitives
internal import Glibc
internal import SealedBackends
internal import SealedState
internal import SharedFiles
internal import SystemPackage

/// A copy of a container while other processes use it.
///
/// A record's file is never changed in place, so an opened file is one whole blob, even if its name is given to another
/// file. So no lock is taken and no writer waits. Other files may be written in place; a file that changes while it is
/// read is read again.
struct Snapshot {
    let container: GroupContainer
    /// The store that verifies sealed files; `nil` if nothing opens the vault.
    let store: SealedStore?
    /// The backend of the records; `nil` for files.
    let backend: (any SealedBackend)?
    let includesCaches: Bool

    /// The largest file that is read whole. A larger one is copied in parts and not read again.
    private static let largestWhole = 16 << 20
    /// A file whose size is more times that on the disk is left out.
    private static let largestSparseness: Int64 = 64
    private static let maximumDepth = 64
    private static let attempts = 5

    /// The container has a backend other than files, by now at the latest.
    private var hasBackend: Bool {
        backend != nil || (try? container.root.exists(ContainerLayout.backend)) != false
    }

    /// Writes the copy. The copy is abandoned soon after a held-back signal has arrived.
    func write(to target: any SnapshotTarget) throws(Failure) -> SnapshotReport {
        var report = SnapshotReport(group: container.group.identifier, isVerified: store != nil)
        do throws(Failure) {
            try target.addDirectory("container")
            var manifests: [String] = []
            try container.root.walk(maximumDepth: Self.maximumDepth) { entry throws(Failure) in
                try Self.goOn()
                // A copy of a database's files while it is written may be torn.
                if ContainerLayout.isDatabase(entry.path), hasBackend { return }
                if Self.isManifest(entry) {
                    manifests.append(entry.path)
                } else {
                    try add(entry, to: target, &report)
                }
            }
            try addManifests(manifests, to: target, &report)
            if let backend {
                try addDatabase(backend, to: target, &report)
            } else if hasBackend {
                throw Failure(
                    .temporary, "snapshotChanged", "the records were moved to a database while they were copied",
                    hint: "Take the snapshot again.")
            }
            try noteRefusedContents(in: &report)
            try target.addFile("manifest.json", Array((report.manifest.text + "\n").utf8), modified: .now)
            try target.commit()
        } catch {
            target.discard()
            throw error
        }
        return report
    }

    private static func goOn() throws(Failure) {
        guard HeldSignals.arePending else { return }
        throw Failure(.temporary, "interrupted", "the copy was interrupted", hint: "")
    }

    private func add(
        _ entry: WalkEntry, to target: any SnapshotTarget, _ report: inout SnapshotReport
    ) throws(Failure) {
        report.visited.insert(entry.path)
        switch SnapshotChoice(entry, includesCaches: includesCaches) {
        case .passOver: break
        case .leaveOut(let reason): report.leftOut.append((entry.path, reason))
        case .unreadable(let error): report.leaveOut(entry.path, error)
        case .directory: try target.addDirectory("container/\(entry.path)")
        case .file:
            if let file = try copy(entry.path, to: target, &report) { report.files.append(file) }
        }
    }
}

// MARK: The database

extension Snapshot {
    private static let page = 1000

    /// Adds a copy of the database as it is at one moment, and verifies its records.
    private func addDatabase(
        _ backend: any SealedBackend, to target: any SnapshotTarget, _ report: inout SnapshotReport
    ) throws(Failure) {
        let name = container.group.identifier
        for attempt in 1...Self.attempts {
            let place = try TemporaryPlace()
            let (copy, manifests) = try Failure.onBackend("copy", name) { () throws(BackendError) in
                try backend.copy(to: place.path)
                let copy = try KnownBackend.provider?.open(
                    BackendPlace(group: name, directory: place.path, isShared: false, isNew: false))
                return (copy, try copy.map { copy throws(BackendError) in try Self.manifests(in: copy) } ?? [])
            }
            try addNewContents(to: target, &report)
            // A manifest that was replaced since may have lost its contents before they were copied.
            let isSettled = try Failure.onBackend("copy", name) { () throws(BackendError) in
                try Self.manifests(in: backend) == manifests
            }
            guard isSettled || attempt == Self.attempts else { continue }
            if let copy { try verify(copy, &report) }
            var file = try addParts(of: openCopy(place), ContainerLayout.database, to: target)
            file.isSettled = isSettled
            return report.files.append(file)
        }
    }

    private func verify(_ copy: any SealedBackend, _ report: inout SnapshotReport) throws(Failure) {
        try Failure.onBackend("verify", container.group.identifier) { () throws(BackendError) in
            try Self.forEachHead("", in: copy) { head throws(BackendError) in
                guard let blob = try copy.read(head.key, limit: .max)?.bytes else { return }
                report.addInDatabase(SnapshotFile(record: head.key.name, blob, store))
            }
        }
    }

    /// Opens the copy of the database, whose name then goes: an interrupted command leaves nothing behind.
    private func openCopy(_ place: borrowing TemporaryPlace) throws(Failure) -> OpenFile {
        let path = FilePath(place.path)
        return try Failure.onFiles { () throws(FileError) in
            try OpenFile(ContainerLayout.database, in: Directory.open(path))
        }
    }

    /// Returns the headers of the manifests of sealed files.
    private static func manifests(in backend: any SealedBackend) throws(BackendError) -> [[UInt8]] {
        var heads: [[UInt8]] = []
        try forEachHead(SealedFileName.namePrefix, in: backend) { heads.append($0.bytes) }
        return heads
    }

    static func forEachHead(
        _ prefix: String, in backend: any SealedBackend, _ body: (BlobHead) throws(BackendError) -> Void
    ) throws(BackendError) {
        var last: BackendKey?
        while true {
            let heads = try backend.scan(prefix, after: last, limit: page)
            for head in heads { try body(head) }
            if heads.count < page { return }
            last = heads.last?.key
        }
    }
}

// MARK: Sealed files

extension Snapshot {
    private static func isManifest(_ entry: WalkEntry) -> Bool {
        entry.kind == .regular && entry.isText && entry.attributes.map { $0.size <= largestWhole } ?? false
            && RecordFile.name(of: entry.path)?.text.hasPrefix(SealedFileName.namePrefix) == true
    }

    /// Adds the manifests of sealed files, each when its contents are in the copy: a manifest that is in its place
    /// before and after the contents were listed had its contents meanwhile.
    private func addManifests(
        _ paths: [String], to target: any SnapshotTarget, _ report: inout SnapshotReport
    ) throws(Failure) {
        var left = paths
        for attempt in 1...Self.attempts where !left.isEmpty {
            var read: [(path: String, contents: OpenFile.Contents)] = []
            for path in left {
                try Self.goOn()
                let contents = opened(path, &report) { (file) throws(FileError) in
                    guard file.facts.size <= Self.largestWhole else {
                        throw FileError(.tooLarge, operation: "read", path: container.root.display(path))
                    }
                    return try file.contents()
                }
                if let contents { read.append((path, contents)) }
            }
            try addNewContents(to: target, &report)
            left = []
            for (path, contents) in read {
                try Self.goOn()
                var file = judged(contents, path)
                file.isSettled = isInPlace(path, contents.facts)
                guard file.isSettled || attempt == Self.attempts else {
                    left.append(path)
                    continue
                }
                // A file that was removed need not be in the copy.
                guard (try? container.root.exists(path)) != false else { continue }
                file = try add(file, contents.bytes, to: target)
                report.files.append(file)
            }
        }
    }

    /// Notes the sealed files whose contents readers refuse or miss: their copy cannot be read either.
    private func noteRefusedContents(in report: inout SnapshotReport) throws(Failure) {
        guard let store else { return }
        report.refusedContents = try Failure.onStore { () throws(StoreError) in try store.refusedContents() }
    }

    /// Adds contents of sealed files that were written since the walk has passed their directory.
    private func addNewContents(to target: any SnapshotTarget, _ report: inout SnapshotReport) throws(Failure) {
        let directory = ContainerLayout.contents
        let entries: [DirectoryEntry]
        do throws(FileError) { entries = try container.root.directory(directory).entries() } catch {
            if error.code != .notFound, report.visited.insert(directory + "/").inserted {
                report.leaveOut(directory, error)
            }
            return
        }
        for entry in entries where entry.kind == .regular && TemporaryLeaf(entry.name) == nil {
            try Self.goOn()
            let path = directory + "/" + entry.name
            guard report.visited.insert(path).inserted else { continue }
            for parent in [ContainerLayout.files, directory] where report.visited.insert(parent).inserted {
                try target.addDirectory("container/\(parent)")
            }
            if let file = try copy(path, to: target, &report) { report.files.append(file) }
        }
    }
}

// MARK: One file

extension Snapshot {
    /// Returns `nil` if the file is not in the copy.
    private func copy(
        _ path: String, to target: any SnapshotTarget, _ report: inout SnapshotReport
    ) throws(Failure) -> SnapshotFile? {
        for attempt in 1...Self.attempts {
            let file = opened(path, &report) { (file) throws(FileError) in
                (file, file.facts.size > Self.largestWhole ? nil : try file.contents())
            }
            guard let file else { return nil }
            guard let contents = file.1 else {
                // Holes of a planted file would fill the disk of the copy.
                if file.0.facts.allocatedSize < file.0.facts.size / Self.largestSparseness {
                    report.leftOut.append((path, "a sparse file: it has fewer bytes on the disk than it states"))
                    return nil
                }
                return try addParts(of: file.0, path, to: target)
            }
            let judged = judged(contents, path)
            // A record that was replaced meanwhile looks like an older one that was put back.
            let isFinal = contents.isSettled && (judged.seal != .refused || isInPlace(path, contents.facts))
            if isFinal || attempt == Self.attempts { return try add(judged, contents.bytes, to: target) }
        }
        return nil
    }

    private func isInPlace(_ path: String, _ facts: FileAttributes) -> Bool {
        guard let now = try? container.root.attributes(path) else { return false }
        return now.isSameFile(as: facts) && now.modifiedNanoseconds == facts.modifiedNanoseconds
    }

    /// Returns `nil` for a file that was removed since it was listed, which need not be in the copy, and for an
    /// unreadable file, which is reported.
    private func opened<Result>(
        _ path: String, _ report: inout SnapshotReport, _ body: (OpenFile) throws(FileError) -> Result
    ) -> Result? {
        do throws(FileError) { return try body(try OpenFile(path, in: container.root)) } catch {
            if error.code != .notFound { report.leaveOut(path, error) }
            return nil
        }
    }

    private func judged(_ read: OpenFile.Contents, _ path: String) -> SnapshotFile {
        var file = SnapshotFile(
            path: path, read.facts, modified: read.modified, size: Int64(read.bytes.count), isSettled: read.isSettled)
        file.hash = BLAKE2b.hash(read.bytes, count: 32)
        file.judge(read.bytes, isWhole: true, store)
        return file
    }

    private func add(
        _ file: SnapshotFile, _ bytes: [UInt8], to target: any SnapshotTarget
    ) throws(Failure) -> SnapshotFile {
        try target.addFile("container/\(file.path)", bytes, modified: file.modified)
        return file
    }

    private func addParts(
        of open: OpenFile, _ path: String, to target: any SnapshotTarget
    ) throws(Failure) -> SnapshotFile {
        var file = SnapshotFile(
            path: path, open.facts, modified: open.modified, size: open.facts.size, isSettled: true)
        try target.beginFile("container/\(path)", size: file.size, modified: file.modified)
        var position: Int64 = 0
        while position < file.size {
            try Self.goOn()
            let part = try Failure.onFiles { () throws(FileError) in try open.part(at: position) }
            if position == 0 { file.judge(part, isWhole: false, store) }
            try target.add(part)
            position += Int64(part.count)
        }
        try target.endFile()
        file.isSettled = open.isUnchanged
        return file
    }
}

/// The treatment of one name of a container in a snapshot.
enum SnapshotChoice {
    case directory
    case file
    /// A file that is only useful to running programs, and that is left out silently.
    case passOver
    case leaveOut(String)
    /// A file that belongs into the copy and cannot be read.
    case unreadable(FileError)

    /// The library's own files, which the library creates again in a restored container.
    private static let machinery: Set<String> = [
        ContainerLayout.lockFile, ContainerLayout.leaseFile, ContainerLayout.metadata, ContainerLayout.coordination,
        ContainerLayout.ipc, ContainerLayout.sockets, ContainerLayout.notifications,
    ]
    private static let caches = "Library/Caches"

    init(_ entry: WalkEntry, includesCaches: Bool) {
        let top = entry.path.prefix { $0 != "/" }
        let leaf = FilePath(entry.path).lastComponent?.string ?? entry.path
        if Self.machinery.contains(String(top)) || Array(entry.path.utf8) == Array(".".utf8) && entry.error == nil {
            self = .passOver
        } else if top == ContainerLayout.quarantine || ContainerLayout.isReserve(top) {
            self = .passOver
        } else if !includesCaches, entry.path.hasPrefix(Self.caches + "/") {
            self = .passOver
        } else if let error = entry.error {
            // The file was removed since it was listed.
            self = error.code == .notFound ? .passOver : .unreadable(error)
        } else if String(validating: entry.nameBytes, as: UTF8.self) == nil {
            self = .leaveOut("its name is not UTF-8")
        } else {
            self = Self.choice(entry, leaf)
        }
    }

    private static func choice(_ entry: WalkEntry, _ leaf: String) -> SnapshotChoice {
        switch entry.kind {
        case .directory: .directory
        case .regular: TemporaryLeaf(leaf) != nil ? .leaveOut("an unfinished value of a writer") : .file
        case .symbolicLink: .leaveOut("a link")
        default: .leaveOut("no file: \(entry.kind.rawValue)")
        }
    }
}

/// A directory of this process, which is removed with this value.
struct TemporaryPlace: ~Copyable {
    let path: String

    init() throws(Failure) {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/sealctl-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Failure(FileError(errno: errno, operation: "create a directory in", path: parent))
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        let path = FilePath(path)
        guard let leaf = path.lastComponent?.string else { return }
        try? Directory.open(path.removingLastComponent()).removeTree(leaf)
    }
}
