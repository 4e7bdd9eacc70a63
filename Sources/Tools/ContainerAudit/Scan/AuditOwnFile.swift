internal import FoundationEssentials
internal import Glibc
internal import SharedFiles

/// A file that an audit uses or writes itself. In an audited directory, its being unsealed is not a finding.
///
/// The file is identified by its inode rather than its name, so that another file with that name hides nothing.
public struct AuditOwnFile: Sendable, Hashable {
    /// The audit's use of the file.
    public enum Use: Sendable, Hashable {
        /// The file is read as an ignore list. An invalid one is treated as any other file.
        case ignoreList
        /// The file is read as a baseline. An invalid one is treated as any other file.
        case baseline
        /// The file is replaced by this audit's output. Its former contents are not searched.
        case output
    }

    struct Identity: Sendable, Hashable {
        let device: UInt64
        let inode: UInt64
    }

    /// The audit's use of the file.
    public let use: Use
    let identity: Identity

    /// Creates the own file at a path, following links, or returns `nil` if it is not a regular file.
    public init?(path: String, use: Use) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status, use)
    }

    /// Creates the own file of a descriptor, or returns `nil` if it is not a regular file.
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

/// The own files of an audit.
struct OwnFiles: Sendable {
    private let uses: [AuditOwnFile.Identity: AuditOwnFile.Use]
    private static let largest = 64 << 20

    init(_ files: [AuditOwnFile]) {
        // An output file is replaced, even if it has another use as well.
        uses = Dictionary(files.map { ($0.identity, $0.use) }) { $0 == .output ? $0 : $1 }
    }

    /// Returns the audit's use of a file, or `nil` if it is not an own file or has invalid contents.
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
