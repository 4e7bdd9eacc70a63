internal import AppGroups
internal import ContentDecoding
internal import SealedState
internal import Sealing
internal import SharedFiles

/// Decides what a file is from its kind, its place and its first bytes; it opens regular files only.
struct FileClassifier: Sendable {
    /// How many bytes of a file's start decide.
    static let headSize = 4096

    let root: Directory
    /// The container's group, where it is known.
    let group: AppGroup?

    /// - Throws: `FileError` when a regular file cannot be read, `.notFound` when it is gone.
    func classify(_ entry: ContainerEntry, _ attributes: FileAttributes) throws(FileError) -> AuditSubject {
        if let signal = try SignalFiles(root: root, group: group).classify(entry, attributes) { return signal }
        return switch attributes.kind {
        case .regular: try regular(entry, attributes)
        case .directory: AuditSubject(entry, attributes, .directory)
        case .symbolicLink: AuditSubject(entry, attributes, .link)
        case .fifo, .socket, .characterDevice, .blockDevice, .unknown: AuditSubject(entry, attributes, .special)
        }
    }

    private func regular(_ entry: ContainerEntry, _ attributes: FileAttributes) throws(FileError) -> AuditSubject {
        let head = try root.readPrefix(entry.path, count: Self.headSize).bytes
        if QuarantineNote.isNote(path: entry.path, size: attributes.size, head: head) {
            return AuditSubject(entry, attributes, .quarantineNote)
        }
        let (content, header) = content(of: head, isNamedSealed: entry.path.hasSuffix(ContainerLayout.recordSuffix))
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
        // A text that happens to begin with the magic is a text.
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
        switch entry.place {
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

extension AuditSubject {
    /// Something that has no content to look at.
    init(_ entry: ContainerEntry, _ attributes: FileAttributes, _ kind: FileClass) {
        self.init(entry: entry, attributes: attributes, kind: kind, content: kind, header: nil)
    }
}

/// An entry that was looked at: its facts, its class, and the header that it claims.
struct AuditSubject: Sendable {
    let entry: ContainerEntry
    let attributes: FileAttributes
    /// What it is, its place counted in: a lock file, a temporary, a quarantined copy.
    let kind: FileClass
    /// What its bytes are, wherever it lies.
    let content: FileClass
    /// What its header claims, or why that is refused; nil for what does not claim to be a sealed blob.
    let header: Result<UnverifiedHeader, SealingError>?
    /// What else its first bytes say.
    var marks: ContentMarks = []
    /// The form that its reader knows, of content that is no text, property list or database; nil where there is none.
    var form: CarrierForm?

    var path: String { entry.path }
    var place: ContainerPlace { entry.place }
}

extension AuditSubject {
    /// Whether it is the log, the journal or the index of a database that lies beside it: a part of that, which must not be
    /// sealed or removed without it.
    func isPartOfDatabase(in scope: AuditScope) -> Bool {
        // Text under such a name is somebody's text.
        guard content == .sqlite || content == .binary, let database = FileNames.database(ofCompanion: path),
            let facts = try? scope.root.attributes(String(database))
        else { return false }
        return facts.kind == .regular && facts.size > 0
    }

    /// Whether it is a database itself, no log of one.
    var isDatabase: Bool { content == .sqlite && FileNames.database(ofCompanion: path) == nil }
}
