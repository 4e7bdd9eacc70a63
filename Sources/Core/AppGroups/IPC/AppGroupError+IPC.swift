internal import Glibc
package import SharedFiles

// Names.
extension AppGroupError.Code {
    /// A name for IPC is empty, longer than 64 bytes, or holds what not every mechanism takes.
    public static let invalidIPCName = Self(rawValue: "invalidIPCName")
    /// The group's identifier and the name together are longer than that system's mechanism allows.
    public static let ipcNameTooLong = Self(rawValue: "ipcNameTooLong")
}

// Semaphores and shared memory.
extension AppGroupError.Code {
    /// There is no semaphore or memory of that name, and none was to be made.
    public static let ipcMissing = Self(rawValue: "ipcMissing")
    /// The semaphore or memory was removed while it was open: by somebody's `unlink`, ipcrm(1), or the end of the user's last
    /// login (`RemoveIPC` of logind.conf(5)).
    public static let ipcRemoved = Self(rawValue: "ipcRemoved")
    /// What stands for the semaphore or memory in the container says nothing that can be used, or is no file.
    public static let ipcDamaged = Self(rawValue: "ipcDamaged")
    /// The semaphore or memory was made in another IPC namespace, as containers of processes have them.
    public static let ipcElsewhere = Self(rawValue: "ipcElsewhere")
    /// The semaphore or memory belongs to somebody, or is open to somebody, who has no say in the container.
    public static let ipcUntrusted = Self(rawValue: "ipcUntrusted")
    /// Another user made it, and it was to be removed.
    public static let ipcNotOwner = Self(rawValue: "ipcNotOwner")
    /// It has another size, or another layout, than was asked for.
    public static let ipcMismatch = Self(rawValue: "ipcMismatch")
    /// The system allows no more semaphores or shared memory.
    public static let ipcLimit = Self(rawValue: "ipcLimit")
    /// A semaphore's value would go beyond 32,767.
    public static let ipcOverflow = Self(rawValue: "ipcOverflow")
    /// A process whose primary unix group is another one cannot make what the container's unix group shares.
    public static let ipcNotShareable = Self(rawValue: "ipcNotShareable")
}

// Waiting and sockets.
extension AppGroupError.Code {
    /// The time for it was over.
    public static let timeout = Self(rawValue: "timeout")
    /// The task that waited was cancelled.
    public static let cancelled = Self(rawValue: "cancelled")
    /// Another process listens under that name.
    public static let socketInUse = Self(rawValue: "socketInUse")
    /// Nobody listens under that name.
    public static let nobodyListens = Self(rawValue: "nobodyListens")
    /// Whoever is at the other end may not use the container, or the rule for peers refuses it.
    public static let peerRefused = Self(rawValue: "peerRefused")
    /// The rule for peers refuses whoever is at the other end, and which program that is could not be told.
    public static let peerUnknown = Self(rawValue: "peerUnknown")
    /// The other end is gone without having finished, or the connection was closed here.
    public static let connectionLost = Self(rawValue: "connectionLost")
    /// A message has more bytes than the connection takes.
    public static let messageTooLarge = Self(rawValue: "messageTooLarge")
}

extension AppGroupError {
    /// An error about a name.
    package static func ipc(
        _ code: Code, _ operation: String, _ subject: String, _ reason: String, _ advice: String
    ) -> Self {
        Self(
            code: code, operation: operation, subject: DisplayText.identifier(subject), reason: reason, advice: advice)
    }

    /// What a failure on the files or sockets behind a name means.
    package init(_ error: FileError, _ operation: String, ipc name: GroupIPCName) {
        let code: Code =
            switch error.code {
            case .lockTimeout: .timeout
            case .cancelled: .cancelled
            default: .file
            }
        self.init(
            code: code, operation: operation, subject: error.path, reason: "cannot \(error.operation)",
            advice: error.advice, underlying: error)
    }

    /// What a number of the kernel means for a semaphore or for memory.
    package static func kernel(_ number: Int32, _ operation: String, _ name: GroupIPCName) -> Self {
        let subject = name.description
        switch number {
        case EIDRM, EINVAL:
            return .ipc(.ipcRemoved, operation, subject, "it was removed while it was open", "Open it again.")
        case ENOSPC, ENOMEM:
            return .ipc(
                .ipcLimit, operation, subject, "the system allows no more of them",
                "See the limits and who uses them: ipcs -l; ipcs -a")
        case ERANGE:
            return .ipc(
                .ipcOverflow, operation, subject, "its value cannot go beyond 32767",
                "Find out who posts without anybody waiting.")
        case EACCES, EPERM:
            return .ipc(
                .ipcUntrusted, operation, subject, "it is closed to this process",
                "See whose it is: ipcs -a; then have its owner remove it.")
        default:
            let failure = FileError(errno: number, operation: operation, path: subject)
            return AppGroupError(failure, operation, ipc: name)
        }
    }
}
