/// The name of an object that an app group's programs share: a service, a semaphore, shared memory, a socket.
///
/// The name is unique within the group: `GroupIPCName("refresh", in: group)`. Its names in the systems follow from the
/// group's identifier and the name. Apple's names are built and checked here as well (``darwinName(for:)``), so that a
/// portable program detects on Linux that a name is too long for Apple's systems.
public struct GroupIPCName: Hashable, Sendable, CustomStringConvertible {
    /// Longest name in bytes: a socket's has to fit into an address together with its prefix.
    public static let maximumLength = 64

    /// The group whose programs use the name.
    public let group: AppGroup
    /// The unique name, for example `refresh`.
    public let name: String

    /// The group and the name, in the form of Apple's POSIX mechanisms.
    public var description: String { "\(group)/\(name)" }

    /// Checks a name: 1 to 64 of `A-Z`, `a-z`, `0-9`, `.`, `-` and `_`, beginning with a letter or a digit.
    ///
    /// - Throws: ``AppGroupError`` with `invalidIPCName`.
    public init(_ name: String, in group: AppGroup) throws(AppGroupError) {
        if let reason = Self.fault(of: name) { throw Self.invalid(name, reason) }
        self.group = group
        self.name = name
    }

    /// Parses a name in the form of a mechanism of Apple's systems, such as `group.com.example.app/refresh`.
    ///
    /// - Throws: ``AppGroupError`` with `invalidIPCName` if it is not of this group, so that members of the group could
    ///   not use it, or the name in it is invalid; `ipcNameTooLong` if that mechanism would reject it.
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

    /// Returns the fault of a name; nil if it is valid.
    static func fault(of name: String) -> String? {
        guard let first = name.utf8.first else { return "it is empty" }
        guard name.utf8.count <= maximumLength else {
            return "it has \(name.utf8.count) bytes and the limit is \(maximumLength)"
        }
        guard name.utf8.allSatisfy(\.isAllowedInIdentifier) else {
            return "it contains a character other than A-Z, a-z, 0-9, \".\", \"-\" and \"_\""
        }
        return [UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_")].contains(first)
            ? "it does not begin with a letter or a digit" : nil
    }

    private static func invalid(_ name: String, _ reason: String) -> AppGroupError {
        .ipc(
            .invalidIPCName, "use the name for IPC", name, reason,
            "Use a name of 1 to \(maximumLength) letters, digits, dots, hyphens and underscores, such as refresh.")
    }
}

extension GroupIPCName {
    /// The mechanisms in Apple's documentation of the app groups entitlement, except sockets: see ``GroupSocketPath``.
    public enum Mechanism: String, Sendable, CaseIterable {
        /// A Mach service or an XPC service.
        case service
        /// A POSIX semaphore.
        case semaphore
        /// POSIX shared memory.
        case sharedMemory
    }

    /// Returns the name on Apple's systems: `<group>.<name>` of a service, `<group>/<name>` of the others.
    ///
    /// - Throws: ``AppGroupError`` with `ipcNameTooLong`: a service's name may have 127 bytes, the others 30.
    public func darwinName(for mechanism: Mechanism) throws(AppGroupError) -> String {
        let text = group.identifier + mechanism.darwinSeparator + name
        return try limited(text, to: mechanism.darwinLimit, mechanism.darwinConstant, mechanism)
    }

    /// Returns the name of the object in the POSIX mechanisms of Linux: `/<group>:<name>`. Linux has no services; the
    /// closest equivalent is a socket.
    ///
    /// For programs that use sem_open(3) or shm_open(3) themselves. ``GroupSemaphore`` and ``GroupSharedMemory`` do
    /// not, and accept every name (`docs/guides/coordination-and-ipc.md` explains why).
    /// - Returns: nil for a service.
    /// - Throws: ``AppGroupError`` with `ipcNameTooLong`.
    public func linuxName(for mechanism: Mechanism) throws(AppGroupError) -> String? {
        guard let limit = mechanism.linuxLimit else { return nil }
        return try limited("/\(group):\(name)", to: limit, "NAME_MAX", mechanism)
    }

    private func limited(
        _ text: String, to limit: Int, _ constant: String, _ mechanism: Mechanism
    ) throws(AppGroupError) -> String {
        let excess = text.utf8.count - limit
        if excess <= 0 { return text }
        let room = name.utf8.count - excess
        let advice =
            room > 0
            ? "Use a name of at most \(room) bytes."
            : "The group's identifier leaves no room for any name: use a shorter group for this, or a socket."
        throw .ipc(
            .ipcNameTooLong, "name the \(mechanism.words)", text,
            "it has \(text.utf8.count) bytes and \(constant) leaves \(limit)", advice)
    }
}

extension GroupIPCName.Mechanism {
    var darwinSeparator: String { self == .service ? "." : "/" }

    /// `BOOTSTRAP_MAX_NAME_LEN` is 128 and includes the terminating byte; longer names are cut silently. `PSEMNAMLEN`
    /// and `PSHMNAMLEN` are 31, and the kernel (XNU, `sem_open`, `shm_open`) includes that byte as well.
    var darwinLimit: Int { self == .service ? 127 : 30 }

    var darwinConstant: String {
        switch self {
        case .service: "BOOTSTRAP_MAX_NAME_LEN"
        case .semaphore: "PSEMNAMLEN"
        case .sharedMemory: "PSHMNAMLEN"
        }
    }

    /// The limit with the slash, as in sem_overview(7) and shm_overview(7); `sem.` takes four bytes of `NAME_MAX`.
    var linuxLimit: Int? {
        switch self {
        case .service: nil
        case .semaphore: 251
        case .sharedMemory: 255
        }
    }

    var words: String {
        switch self {
        case .service: "service"
        case .semaphore: "semaphore"
        case .sharedMemory: "shared memory"
        }
    }
}
