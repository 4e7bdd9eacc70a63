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
