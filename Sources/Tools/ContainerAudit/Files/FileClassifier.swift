internal import AppGroups
internal import ContentDecoding
internal import Glibc
internal import SealedState
internal import Sealing
internal import SharedFiles

/// Determines the class of a file from its kind, its place and its first bytes. Only regular files are opened.
struct FileClassifier: Sendable {
    /// The number of bytes at a file's start that decide its class.
    static let headSize = 4096

    let scope: AuditScope

    /// - Throws: `FileError` if a regular file cannot be read, `.notFound` if it is gone.
    func classify(_ entry: ContainerEntry, _ attributes: FileAttributes) throws(FileError) -> AuditSubject {
        if scope.database?.owns(entry.path, attributes) == true {
            return AuditSubject(entry, attributes, .sealedDatabase)
        }
        let signals = SignalFiles(root: scope.root, group: scope.group)
        if let signal = try signals.classify(entry, attributes) { return signal }
        return switch attributes.kind {
        case .regular: try regular(entry, attributes)
        case .directory: AuditSubject(entry, attributes, .directory)
        case .symbolicLink: AuditSubject(entry, attributes, .link)
        case .fifo, .socket, .characterDevice, .blockDevice, .unknown: AuditSubject(entry, attributes, .special)
        }
    }

    /// Classifies a record in the container's database by its blob, as a file in a record's place.
    ///
    /// - Throws: `FileError` if it cannot be read, `.notFound` if it is gone.
    func classifyRecord(_ entry: ContainerEntry) throws(FileError) -> AuditSubject {
        let contents = EntryContents(of: scope)
        let blob = try contents.read(entry, limit: contents.largestRecord)
        return subject(entry, FileAttributes(ofRecord: blob.count), Array(blob.prefix(Self.headSize)))
    }

    private func regular(_ entry: ContainerEntry, _ attributes: FileAttributes) throws(FileError) -> AuditSubject {
        let head = try scope.root.readPrefix(entry.path, count: Self.headSize).bytes
        if QuarantineNote.isNote(path: entry.path, size: attributes.size, head: head) {
            return AuditSubject(entry, attributes, .quarantineNote)
        }
        return subject(entry, attributes, head)
    }

    private func subject(_ entry: ContainerEntry, _ attributes: FileAttributes, _ head: [UInt8]) -> AuditSubject {
        let (content, header) = content(of: head, isNamedSealed: entry.isNamedSealed)
        return AuditSubject(
            entry: entry, attributes: attributes, kind: kind(of: content, entry), content: content, header: header,
            marks: ContentMarks.of(head, size: attributes.size),
            form: content == .binary ? form(of: head, entry) : nil)
    }

    private func form(of head: [UInt8], _ entry: ContainerEntry) -> CarrierForm? {
        let form = Carriers.form(of: head, name: String(entry.leaf))
        return form == .binary ? nil : form
    }

    private func content(
        of head: [UInt8], isNamedSealed: Bool
    ) -> (FileClass, Result<UnverifiedHeader, SealingError>?) {
        let plain = ContentSniffer.classify(head)
        // A text that begins with the magic is still a text.
        let isSealed = ContentSniffer.hasBlobMagic(head) && plain == .binary
        guard isSealed || (isNamedSealed && (plain == .binary || plain == .empty)) else { return (plain, nil) }
        do throws(SealingError) {
            let header = try UnverifiedHeader(parsing: head)
            return (FileClass(header.claimed.kind), .success(header))
        } catch {
            return (.sealedUnknown, .failure(error))
        }
    }

    private func kind(of content: FileClass, _ entry: ContainerEntry) -> FileClass {
        if entry.record != nil { return content }
        return switch entry.place {
        case .lockFile where content == .empty: .lockFile
        case .quarantine: .quarantined
        default: TemporaryName.matches(entry.leaf) ? .temporary : content
        }
    }
}

extension FileClass {
    fileprivate init(_ kind: BlobKind) {
        switch kind {
        case .record: self = .sealedRecord
        case .stream: self = .sealedStream
        case .vault: self = .sealedVault
        }
    }
}

extension FileAttributes {
    /// Creates the attributes of a record in the container's database, of which only kind and size are significant.
    fileprivate init(ofRecord size: Int) {
        var status = stat()
        status.st_mode = S_IFREG | 0o600
        status.st_nlink = 1
        status.st_size = size
        status.st_blocks = (size + 511) / 512
        self.init(status)
    }
}

extension AuditSubject {
    /// Creates a subject without content to examine.
    init(_ entry: ContainerEntry, _ attributes: FileAttributes, _ kind: FileClass) {
        self.init(entry: entry, attributes: attributes, kind: kind, content: kind, header: nil)
    }
}

/// An examined entry: its attributes, its class, and the header that it claims.
struct AuditSubject: Sendable {
    let entry: ContainerEntry
    let attributes: FileAttributes
    /// The class with regard to its place: a lock file, a temporary, a quarantined copy.
    let kind: FileClass
    /// The class of its bytes, regardless of its place.
    let content: FileClass
    /// The claimed header, or the reason of its refusal; `nil` if the file does not claim to be a sealed blob.
    let header: Result<UnverifiedHeader, SealingError>?
    /// Further marks of its first bytes.
    var marks: ContentMarks = []
    /// The form for the carrier reader of content that is not text, property list or database, or `nil` if no reader
    /// supports it.
    var form: CarrierForm?

    var path: String { entry.path }
    var place: ContainerPlace { entry.place }
}

extension AuditSubject {
    /// Returns whether it is the log, the journal or the index of a database beside it. Such a part must not be sealed
    /// or removed without the database.
    func isPartOfDatabase(in scope: AuditScope) -> Bool {
        // A text with such a name is an independent file.
        guard entry.record == nil, content == .sqlite || content == .binary,
            let database = FileNames.database(ofCompanion: path),
            let facts = try? scope.root.attributes(String(database))
        else { return false }
        return facts.kind == .regular && facts.size > 0
    }

    /// True if it is a database rather than a log of one.
    var isDatabase: Bool { content == .sqlite && FileNames.database(ofCompanion: path) == nil }
}
