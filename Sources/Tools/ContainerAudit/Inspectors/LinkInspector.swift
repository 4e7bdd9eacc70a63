internal import Glibc
internal import SharedFiles

/// Checks symbolic links and special files, which are never followed or opened.
struct LinkInspector: Inspector {
    func inspect(_ subject: AuditSubject, in scope: AuditScope) -> [Finding] {
        let place = FindingPlace(subject.path, in: scope)
        switch subject.kind {
        case .link: return [link(subject, place, scope)]
        case .special:
            let isDevice = [.characterDevice, .blockDevice].contains(subject.attributes.kind)
            return [
                AuditCheck.specialFile.finding(
                    at: place, "It is a \(Self.name(subject.attributes.kind)).", severity: isDevice ? .high : nil)
            ]
        default: return []
        }
    }

    private func link(_ subject: AuditSubject, _ place: FindingPlace, _ scope: AuditScope) -> Finding {
        guard let target = LinkTarget.read(subject.path, in: scope.root) else {
            return AuditCheck.linkLeaves.finding(
                at: place, "Its target could not be read.", confidence: .possible)
        }
        let check = Self.leaves(subject.path, target, scope.realPath) ? AuditCheck.linkLeaves : .linkPresent
        let severity = subject.isNamedAsRecord ? max(check.severity, .medium) : check.severity
        return check.finding(at: place, "Its target is \"\(target)\".", severity: severity)
    }

    /// Returns whether a target leaves the container, judged by its text alone. A link in the target's path is a
    /// separate finding.
    static func leaves(_ path: String, _ target: String, _ root: String) -> Bool {
        if target.hasPrefix("/") {
            let normal = "/" + normalized(target[...]).joined(separator: "/")
            return normal != root && !normal.hasPrefix(root.hasSuffix("/") ? root : root + "/")
        }
        let parent = path.split(separator: "/").dropLast().joined(separator: "/")
        return normalized("\(parent)/\(target)").first == ".."
    }

    /// Returns the segments without `.` and with every `..` resolved as far as possible. Excess `..` remain at the
    /// front.
    private static func normalized(_ path: some StringProtocol) -> [String] {
        path.split(separator: "/").reduce(into: [String]()) { segments, segment in
            if segment == "." { return }
            let goesUp = segment == ".." && !segments.isEmpty && segments.last != ".."
            if goesUp { segments.removeLast() } else { segments.append(String(segment)) }
        }
    }

    private static func name(_ kind: FileKind) -> String {
        switch kind {
        case .fifo: "FIFO"
        case .socket: "socket"
        case .characterDevice: "character device"
        case .blockDevice: "block device"
        default: "file of unknown kind"
        }
    }
}

/// The target of a symbolic link, read without following it.
enum LinkTarget {
    /// Returns the target's text, or `nil` if the link is gone or unreadable.
    ///
    /// The link's directory is opened beneath the root first, so that a parent that is replaced by a link is not
    /// followed.
    static func read(_ path: String, in root: Directory) -> String? {
        let slash = path.lastIndex(of: "/")
        let leaf = slash.map { String(path[path.index(after: $0)...]) } ?? path
        do throws(FileError) {
            let parent = try root.directory(slash.map { String(path[..<$0]) } ?? ".")
            return text(leaf, parent.descriptor.rawValue)
        } catch {
            return nil
        }
    }

    /// Returns the current path of an open directory without links, or `nil` without /proc.
    static func location(of directory: Directory) -> String? {
        text("/proc/self/fd/\(directory.descriptor.rawValue)", AT_FDCWD)
    }

    private static func text(_ leaf: String, _ directory: Int32) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = readlinkat(directory, leaf, start, buffer.count)
            guard count > 0 else { return nil }
            return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
        }
    }
}
