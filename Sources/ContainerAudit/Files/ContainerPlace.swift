internal import AppGroups
internal import SealedState

/// Which part of a container a path lies in, and what that means for it.
enum ContainerPlace: Hashable, Sendable {
    /// Where a record's blob belongs.
    case record(name: String)
    /// Among the records, under a name that no record has.
    case amongRecords
    case caches
    case quarantine
    /// The container's lock file.
    case lockFile
    case elsewhere

    /// - Parameter path: Below the container, `/`-separated.
    init(_ path: String) {
        if path == ContainerLayout.lockFile {
            self = .lockFile
        } else if path.hasPrefix(ContainerLayout.quarantine + "/") {
            self = .quarantine
        } else if path.hasPrefix(GroupContainer.StandardDirectory.caches.relativePath + "/") {
            self = .caches
        } else if path.hasPrefix(ContainerLayout.records + "/") {
            self = Self.recordName(path).map { .record(name: $0) } ?? .amongRecords
        } else {
            self = .elsewhere
        }
    }

    /// The record's name, where it is a record's place.
    var recordName: String? {
        if case .record(let name) = self { name } else { nil }
    }

    /// Whether it lies among the records.
    var isAmongRecords: Bool { self == .amongRecords || recordName != nil }

    private static func recordName(_ path: String) -> String? {
        guard path.hasSuffix(ContainerLayout.recordSuffix) else { return nil }
        let name = path.dropFirst(ContainerLayout.records.count + 1).dropLast(ContainerLayout.recordSuffix.count)
        return try? RecordName(String(name)).text
    }
}
