internal import FoundationEssentials
internal import Glibc
internal import SharedFiles

/// A file that an audit uses or writes itself: where it lies in what is audited, that it lies open there is no finding.
///
/// It is told by what it is, not by its name: whoever gives another file that name hides nothing.
public struct AuditOwnFile: Sendable, Hashable {
    /// What the audit has to do with it.
    public enum Use: Sendable, Hashable {
        /// Read as an ignore list; one that is none is a file like every other.
        case ignoreList
        /// Read as a baseline; one that is none is a file like every other.
        case baseline
        /// Replaced by what this audit comes to; what it holds until then is not searched.
        case output
    }

    struct Identity: Sendable, Hashable {
        let device: UInt64
        let inode: UInt64
    }

    /// What the audit has to do with it.
    public let use: Use
    let identity: Identity

    /// The file of a path, links followed; nil where there is no regular file.
    public init?(path: String, use: Use) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status, use)
    }

    /// The file that a descriptor writes to; nil where that is no regular file.
    public init?(descriptor: Int32, use: Use) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status, use)
    }

    private init?(_ status: stat, _ use: Use) {
        guard status.st_mode & S_IFMT == S_IFREG else { return nil }
        self.use = use
        identity = Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }
}

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
