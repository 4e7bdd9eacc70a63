internal import AppGroups
internal import Glibc
internal import SharedFiles

/// Checks modes and owners of files and directories. `ReachInspector` checks readers, who depend on the directories
/// above.
struct PermissionInspector: Inspector {
    func inspect(_ subject: AuditSubject, in scope: AuditScope) -> [Finding] {
        // A link's own mode has no effect.
        guard subject.attributes.kind != .symbolicLink else { return owner(subject, scope) }
        let lists = AccessLists(of: subject, in: scope)
        return owner(subject, scope) + writers(subject, lists, scope)
            + setuid(subject, scope) + listed(subject, lists, scope)
    }

    private func owner(_ subject: AuditSubject, _ scope: AuditScope) -> [Finding] {
        let uid = subject.attributes.uid
        if uid == 0 || isShared(subject, scope) { return [] }
        // Root audits containers of all users. Other users must own their container.
        let isRoot = subject.path == "."
        let expected = isRoot && geteuid() != 0 ? geteuid() : scope.rootAttributes.uid
        guard uid != expected else { return [] }
        return [
            AuditCheck.ownerForeign.finding(
                at: FindingPlace(subject.path, in: scope), "It belongs to user \(uid) instead of user \(expected).")
        ]
    }

    /// Returns whether it belongs to the unix group that shares the container, whose members may write it.
    private func isShared(_ subject: AuditSubject, _ scope: AuditScope) -> Bool {
        scope.rootAttributes.sharing == .unixGroup(subject.attributes.gid)
    }

    private func writers(_ subject: AuditSubject, _ lists: AccessLists, _ scope: AuditScope) -> [Finding] {
        let mode = subject.attributes.mode
        let place = FindingPlace(subject.path, in: scope)
        if mode & S_IWOTH != 0 {
            // One command covers all of this.
            let remedy = "chmod \(isShared(subject, scope) ? "o-rwx" : "g-w,o-rwx") {file}"
            return [AuditCheck.worldWritable.finding(at: place, Self.sentence(mode), remedy: remedy)]
        }
        // With an access list, the mode's group bits are the mask of the list's entries rather than the group's
        // permissions.
        let groupMayWrite = lists.present.map { $0.owningGroupPermissions & 2 != 0 } ?? (mode & S_IWGRP != 0)
        if groupMayWrite && !isShared(subject, scope) {
            let severity: Severity? = Self.closesContainer(subject.path) ? .high : nil
            return [AuditCheck.groupWritable.finding(at: place, Self.sentence(mode), severity: severity)]
        }
        return []
    }

    /// Returns whether the group's programs refuse the whole container if others may write this directory.
    private static func closesContainer(_ path: String) -> Bool {
        path == "." || path == "Library"
            || GroupContainer.StandardDirectory.allCases.contains { $0.relativePath == path }
    }

    private func setuid(_ subject: AuditSubject, _ scope: AuditScope) -> [Finding] {
        // On directories, the set-group-id bit only makes new files inherit the group.
        guard subject.attributes.kind == .regular, subject.attributes.mode & (S_ISUID | S_ISGID) != 0 else { return [] }
        let place = FindingPlace(subject.path, in: scope)
        return [AuditCheck.setuid.finding(at: place, Self.sentence(subject.attributes.mode))]
    }

    private func listed(_ subject: AuditSubject, _ lists: AccessLists, _ scope: AuditScope) -> [Finding] {
        let place = FindingPlace(subject.path, in: scope)
        var findings: [Finding] = []
        if let present = lists.present {
            findings.append(
                AuditCheck.accessList.finding(
                    at: place, "It gives \(present.sentence).", severity: present.letsOthersWrite ? .high : nil))
        }
        if let inherited = lists.inherited {
            findings.append(
                AuditCheck.accessListInherited.finding(at: place, "Each new entry gives \(inherited.sentence)."))
        }
        return findings
    }

    private static func sentence(_ mode: mode_t) -> String { "Its mode is \(mode.octal)." }
}

extension mode_t {
    /// The mode as at least three octal digits, as chmod accepts them.
    var octal: String {
        let digits = String(self, radix: 8)
        return String(repeating: "0", count: Swift.max(0, 3 - digits.count)) + digits
    }
}

/// The access control lists of an entry, as far as they grant access.
struct AccessLists: Sendable {
    /// The list of the entry, or `nil` if its mode describes all permissions.
    let present: AccessControlList?
    /// The list that new files in a directory inherit, or `nil` without such a list.
    let inherited: AccessControlList?

    /// Reads the lists. An entry that cannot be opened counts as having none.
    init(of subject: AuditSubject, in scope: AuditScope) {
        // The mode's group bits are the list's mask, without which no entry grants anything.
        let mayGrant = subject.attributes.mode & S_IRWXG != 0
        // Programs refuse a database whose mode grants anything, and the audit never opens one.
        if scope.database?.owns(subject.path, subject.attributes) == true {
            (present, inherited) = (nil, nil)
            return
        }
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
    /// The grants by number, as `getfacl -n` shows them, because names may be another machine's.
    var sentence: String {
        let shown = grants.prefix(4).map { "\(Self.name($0.subject)) \(Self.rights($0.permissions))" }
        return shown.joined(separator: ", ") + (grants.count > 4 ? " and \(grants.count - 4) more" : "")
    }

    /// True if a single user or group may write.
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
