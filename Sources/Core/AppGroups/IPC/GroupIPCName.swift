/// The name of something that programs of an app group use together: a service, a semaphore, shared memory, a socket.
///
/// It is unique within the group: `GroupIPCName("refresh", in: group)`. What the systems call it follows from the group's
/// identifier and the name; Apple's names are built and checked here as well (``darwinName(for:)``), so that a program that is
/// to run on both finds out on Linux that a name is too long for the other one.
public struct GroupIPCName: Hashable, Sendable, CustomStringConvertible {
    /// Longest name in bytes: a socket's has to fit into an address together with what stands before it.
    public static let maximumLength = 64

    /// The group whose programs use it.
    public let group: AppGroup
    /// The unique name, for example `refresh`.
    public let name: String

    /// Group and name, as Apple's POSIX mechanisms spell them.
    public var description: String { "\(group)/\(name)" }

    /// Checks a name: 1 to 64 of `A-Z`, `a-z`, `0-9`, `.`, `-` and `_`, beginning with a letter or a digit.
    ///
    /// - Throws: ``AppGroupError`` with `invalidIPCName`.
    public init(_ name: String, in group: AppGroup) throws(AppGroupError) {
        if let reason = Self.fault(of: name) { throw Self.invalid(name, reason) }
        self.group = group
        self.name = name
    }

    /// Takes apart what a mechanism of Apple's systems calls it, such as `group.com.example.app/refresh`.
    ///
    /// - Throws: ``AppGroupError`` with `invalidIPCName` where it is not of this group, so that members of the group could not
    ///   use it, or the name in it is none; `ipcNameTooLong` where that mechanism would refuse it.
    public init(
        darwinName: String, for mechanism: Mechanism, in group: AppGroup
    ) throws(AppGroupError) {
        let prefix = group.identifier + mechanism.darwinSeparator
        guard darwinName.utf8.starts(with: prefix.utf8) else {
            throw Self.invalid(darwinName, "it does not begin with \(prefix)")
        }
        let rest = darwinName.utf8.dropFirst(prefix.utf8.count)
        try self.init(String(Substring(rest)), in: group)
        _ = try self.darwinName(for: mechanism)
    }

    /// What keeps a name from being one; nil where nothing does.
    static func fault(of name: String) -> String? {
        guard let first = name.utf8.first else { return "it is empty" }
        guard name.utf8.count <= maximumLength else {
            return "it has \(name.utf8.count) bytes and the limit is \(maximumLength)"
        }
        guard name.utf8.allSatisfy(\.isAllowedInIdentifier) else {
            return "it holds something else than A-Z, a-z, 0-9, \".\", \"-\" and \"_\""
        }
        return [UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_")].contains(first)
            ? "it begins with neither a letter nor a digit" : nil
    }

    private static func invalid(_ name: String, _ reason: String) -> AppGroupError {
        .ipc(
            .invalidIPCName, "use the name for IPC", name, reason,
            "Use a name of 1 to \(maximumLength) letters, digits, dots, hyphens and underscores, such as refresh.")
    }
}
