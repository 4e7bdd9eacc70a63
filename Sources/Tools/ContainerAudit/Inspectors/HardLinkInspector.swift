internal import SharedFiles

/// Files with more names than the container shows.
struct HardLinkInspector: ContainerInspector {
    private struct Inode: Hashable {
        let device: UInt64
        let number: UInt64
    }

    func conclude(_ seen: SeenContainer) -> [Finding] {
        var names: [Inode: [(path: String, names: UInt64)]] = [:]
        for entry in seen.entries {
            guard let facts = entry.attributes, facts.kind == .regular, facts.nlink > 1 else { continue }
            names[Inode(device: facts.device, number: facts.inode), default: []].append((entry.path, facts.nlink))
        }
        return names.values.compactMap { Self.finding($0, seen.scope) }.sorted { $0.path < $1.path }
    }

    /// One for each file, at the first of its names here; nil where all of them are here.
    private static func finding(_ names: [(path: String, names: UInt64)], _ scope: AuditScope) -> Finding? {
        guard let first = names.first, first.names > UInt64(names.count) else { return nil }
        let here = names.count == 1 ? "one of them" : "\(names.count) of them"
        return AuditCheck.hardLink.finding(
            at: FindingPlace(first.path, in: scope), "It has \(first.names) names, \(here) in the container.")
    }
}
