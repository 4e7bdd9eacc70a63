internal import SharedFiles

/// One name in a container: what the walk saw, before anything was opened.
struct ContainerEntry: Sendable {
    /// Below the container; `.` is the container itself.
    let path: String
    /// The facts, where they could be asked.
    let attributes: FileAttributes?
    /// Why it could not be examined or entered.
    let error: FileError?
    /// The last segment as it lies on the disk, where that is no UTF-8; nil for every other.
    let rawName: [UInt8]?
    /// Whether the name's bytes are the path's: one that is no UTF-8 shows, and cannot be opened.
    var isNameable: Bool { rawName == nil }
    /// Whether every directory between it and the container lets everybody through.
    let isReachable: Bool

    var place: ContainerPlace { ContainerPlace(path) }

    /// The last segment.
    var leaf: Substring { path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...] }

    init(
        path: String, attributes: FileAttributes?, error: FileError?, rawName: [UInt8]? = nil, isReachable: Bool = true
    ) {
        self.path = path
        self.attributes = attributes
        self.error = error
        self.rawName = rawName
        self.isReachable = isReachable
    }

    init(_ entry: WalkEntry) {
        let leaf = entry.path.utf8.reversed().prefix { $0 != UInt8(ascii: "/") }
        let isNameable = entry.path == "." || entry.nameBytes.elementsEqual(leaf.reversed())
        self.init(
            path: entry.path, attributes: entry.attributes, error: entry.error,
            rawName: isNameable ? nil : entry.nameBytes)
    }
}
