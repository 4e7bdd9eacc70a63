internal import FoundationEssentials
internal import SharedFiles

/// The files of one audit that are its own.
struct OwnFiles: Sendable {
    private let uses: [AuditOwnFile.Identity: AuditOwnFile.Use]
    private static let largest = 64 << 20

    init(_ files: [AuditOwnFile]) {
        // What is written is replaced, whatever else it is.
        uses = Dictionary(files.map { ($0.identity, $0.use) }) { $0 == .output ? $0 : $1 }
    }

    /// What the audit has to do with a file; nil for one that is not its own, or does not hold what it should.
    func use(of entry: ContainerEntry, _ attributes: FileAttributes, in root: Directory) -> AuditOwnFile.Use? {
        guard !uses.isEmpty, attributes.kind == .regular,
            let use = uses[AuditOwnFile.Identity(device: attributes.device, inode: attributes.inode)]
        else { return nil }
        return use == .output || holds(use, entry, root) ? use : nil
    }

    private func holds(_ use: AuditOwnFile.Use, _ entry: ContainerEntry, _ root: Directory) -> Bool {
        guard let bytes = try? root.read(entry.path, limit: Self.largest) else { return false }
        switch use {
        case .ignoreList:
            return String(validating: bytes, as: UTF8.self).map { (try? AuditIgnoreList(parsing: $0)) != nil } ?? false
        case .baseline: return (try? AuditBaseline(json: Data(bytes))) != nil
        case .output: return true
        }
    }
}
