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
    /// take every name (`docs/ipc.md` says why).
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
