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

extension GroupIPCName {
    /// What Apple's documentation of the app groups entitlement lists, sockets apart: see ``GroupSocketPath``.
    public enum Mechanism: String, Sendable, CaseIterable {
        /// A Mach service or an XPC service.
        case service
        /// A POSIX semaphore.
        case semaphore
        /// POSIX shared memory.
        case sharedMemory
    }

    /// The name on Apple's systems: `<group>.<name>` of a service, `<group>/<name>` of the others.
    ///
    /// - Throws: ``AppGroupError`` with `ipcNameTooLong`: a service's may have 127 bytes, the others 30.
    public func darwinName(for mechanism: Mechanism) throws(AppGroupError) -> String {
        let text = group.identifier + mechanism.darwinSeparator + name
        return try limited(text, to: mechanism.darwinLimit, mechanism.darwinConstant, mechanism)
    }

    /// The name of the same thing among the POSIX ones of Linux: `/<group>:<name>`. A service has none there; what comes
    /// nearest is a socket.
    ///
    /// For programs that use sem_open(3) or shm_open(3) themselves. ``GroupSemaphore`` and ``GroupSharedMemory`` do not, and
    /// take every name (`docs/guides/coordination-and-ipc.md`).
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

    /// `BOOTSTRAP_MAX_NAME_LEN` is 128 and counts the byte that ends the name; longer ones are cut silently. `PSEMNAMLEN` and
    /// `PSHMNAMLEN` are 31, and the kernel (XNU, `sem_open`, `shm_open`) counts that byte as well.
    var darwinLimit: Int { self == .service ? 127 : 30 }

    var darwinConstant: String {
        switch self {
        case .service: "BOOTSTRAP_MAX_NAME_LEN"
        case .semaphore: "PSEMNAMLEN"
        case .sharedMemory: "PSHMNAMLEN"
        }
    }

    /// With the slash, as sem_overview(7) and shm_overview(7) count; four bytes of `NAME_MAX` go to `sem.`.
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
