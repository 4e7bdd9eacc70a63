internal import AppGroups
internal import Sealing
internal import SharedFiles

/// One file of a container of plaintext, and what is to become of it.
struct PlaintextEntry {
    /// Below the container; of a file that was set aside, the name that it had before.
    let path: String
    /// Why it stays as it is, as a sentence; nil for what is moved.
    let reasonToLeave: String?

    init(_ entry: WalkEntry, in root: Directory) {
        path = Directory.nameBeforeAside(entry.path) ?? entry.path
        reasonToLeave = Self.reason(entry, path, root)
    }

    /// The suite that a property list of `Library/Preferences` becomes.
    var suite: String? {
        guard let name = Self.name(path, in: Self.preferences), name.hasSuffix(".plist"), !name.contains("/") else {
            return nil
        }
        return String(name.dropLast(".plist".count))
    }

    /// Why it becomes no sealed file, as a sentence: the library has its own files there.
    var reasonForNoFile: String? {
        if Self.name(path, in: Self.preferences) != nil { return "Only suites of defaults are kept there." }
        if Self.name(path, in: ContainerLayout.records) != nil { return "Only records are kept there." }
        return nil
    }

    private static let preferences = GroupContainer.StandardDirectory.preferences.relativePath

    private static func name(_ path: String, in directory: String) -> Substring? {
        path.hasPrefix(directory + "/") ? path.dropFirst(directory.count + 1) : nil
    }

    private static func reason(_ entry: WalkEntry, _ path: String, _ root: Directory) -> String? {
        guard entry.kind == .regular else { return "It is no regular file." }
        guard entry.path.utf8.suffix(entry.nameBytes.count).elementsEqual(entry.nameBytes) else {
            return "Its name is no UTF-8."
        }
        if path.hasPrefix(".") { return "What begins with a dot at the top of a container is kept by the system." }
        if path.hasPrefix(ContainerLayout.quarantine + "/") { return "It is in quarantine." }
        if isSealed(entry.path, root) { return "It is sealed already." }
        return isPending(path) ? "It is what an interrupted write has left." : nil
    }

    private static func isSealed(_ path: String, _ root: Directory) -> Bool {
        guard path.hasSuffix(ContainerLayout.recordSuffix),
            let head = try? root.readPrefix(path, count: BlobLayout.headerSize).bytes
        else { return false }
        return (try? UnverifiedHeader(parsing: head)) != nil
    }

    /// Of our own sealed files only: a program's own hidden file of that kind is plaintext as any other.
    private static func isPending(_ path: String) -> Bool {
        let leaf = path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...]
        return leaf.hasPrefix(".") && leaf.hasSuffix(".new") && leaf.contains(ContainerLayout.recordSuffix + ".")
    }
}
