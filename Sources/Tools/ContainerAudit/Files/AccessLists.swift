internal import Glibc
internal import SharedFiles

/// The access control lists of an entry, as far as they give anybody anything.
struct AccessLists: Sendable {
    /// Who may use it; nil where its mode says it all.
    let present: AccessControlList?
    /// What is made in it gives the same people the same; nil for what is no directory, or has no such list.
    let inherited: AccessControlList?

    /// Reads them. What cannot be opened has none that anybody could tell.
    init(of subject: AuditSubject, in scope: AuditScope) {
        // The group bits of a mode are the list's mask: without them no entry gives anything.
        let mayGrant = subject.attributes.mode & S_IRWXG != 0
        switch subject.attributes.kind {
        case .directory:
            let directory = try? scope.root.directory(subject.path)
            present = mayGrant ? directory.flatMap { Self.list(of: $0.descriptor, .access) } : nil
            inherited = directory.flatMap { Self.list(of: $0.descriptor, .inherited) }
        case .regular where mayGrant:
            present = Self.list(of: subject.path, in: scope.root)
            inherited = nil
        default: (present, inherited) = (nil, nil)
        }
    }

    private static func list(of path: String, in root: Directory) -> AccessControlList? {
        guard let file = try? root.openForReading(path) else { return nil }
        return list(of: file, .access)
    }

    private static func list(of file: borrowing Descriptor, _ kind: Descriptor.ListKind) -> AccessControlList? {
        guard let list = try? file.accessControlList(kind), !list.grants.isEmpty else { return nil }
        return list
    }
}

extension AccessControlList {
    /// Whom it gives what, by number, as `getfacl -n` shows them: names may be another machine's.
    var sentence: String {
        let shown = grants.prefix(4).map { "\(Self.name($0.subject)) \(Self.rights($0.permissions))" }
        return shown.joined(separator: ", ") + (grants.count > 4 ? " and \(grants.count - 4) more" : "")
    }

    /// Whether a single user or group may write.
    var letsOthersWrite: Bool { grants.contains { $0.permissions & 2 != 0 } }

    private static func name(_ subject: Subject) -> String {
        switch subject {
        case .user(let id): "user \(id)"
        case .group(let id): "group \(id)"
        case .owner: "the owner"
        case .owningGroup: "the owning group"
        case .others: "others"
        }
    }

    private static func rights(_ permissions: UInt16) -> String {
        zip("rwx", [4, 2, 1]).map { permissions & $1 != 0 ? String($0) : "-" }.joined()
    }
}
