internal import Glibc
package import SharedFiles

// Names.
extension AppGroupError.Code {
    /// A name for IPC is empty, longer than 64 bytes, or contains a character that not every mechanism supports.
    public static let invalidIPCName = Self(rawValue: "invalidIPCName")
    /// The group's identifier and the name together are too long for that system's mechanism.
    public static let ipcNameTooLong = Self(rawValue: "ipcNameTooLong")
}

// Semaphores and shared memory.
extension AppGroupError.Code {
    /// The semaphore or memory does not exist, and was not to be created.
    public static let ipcMissing = Self(rawValue: "ipcMissing")
    /// The semaphore or memory was removed while it was open: by another member's `unlink`, ipcrm(1), or the end of the
    /// user's last login (`RemoveIPC` of logind.conf(5)).
    public static let ipcRemoved = Self(rawValue: "ipcRemoved")
    /// The record of the semaphore or memory in the container is invalid or not a file.
    public static let ipcDamaged = Self(rawValue: "ipcDamaged")
    /// The semaphore or memory was created in another IPC namespace, such as another OS container's.
    public static let ipcElsewhere = Self(rawValue: "ipcElsewhere")
    /// The semaphore or memory belongs to, or is open to, a user without access to the container.
    public static let ipcUntrusted = Self(rawValue: "ipcUntrusted")
    /// Another user created it, and it was to be removed.
    public static let ipcNotOwner = Self(rawValue: "ipcNotOwner")
    /// The size or layout differs from the requested one.
    public static let ipcMismatch = Self(rawValue: "ipcMismatch")
    /// The system allows no more semaphores or shared memory.
    public static let ipcLimit = Self(rawValue: "ipcLimit")
    /// A semaphore's value would go beyond 32,767.
    public static let ipcOverflow = Self(rawValue: "ipcOverflow")
    /// A process with another primary unix group cannot create objects that the container's unix group shares.
    public static let ipcNotShareable = Self(rawValue: "ipcNotShareable")
}

// Waiting and sockets.
extension AppGroupError.Code {
    /// The time limit expired.
    public static let timeout = Self(rawValue: "timeout")
    /// The waiting task was cancelled.
    public static let cancelled = Self(rawValue: "cancelled")
    /// Another process listens under that name.
    public static let socketInUse = Self(rawValue: "socketInUse")
    /// No process listens under that name.
    public static let nobodyListens = Self(rawValue: "nobodyListens")
    /// The peer may not use the container, or the rule for peers refuses it.
    public static let peerRefused = Self(rawValue: "peerRefused")
    /// The rule for peers refuses the peer, whose program could not be determined.
    public static let peerUnknown = Self(rawValue: "peerUnknown")
    /// The peer closed the connection without finishing, or the connection was closed here.
    public static let connectionLost = Self(rawValue: "connectionLost")
    /// A message exceeds the connection's limit.
    public static let messageTooLarge = Self(rawValue: "messageTooLarge")
}

// Channels.
extension AppGroupError.Code {
    /// The other end did not prove that it holds the group's keys, or a message of it was changed.
    public static let peerUnproven = Self(rawValue: "peerUnproven")
    /// The other end answers as many requests as it takes at a time. The request was not handled.
    public static let peerBusy = Self(rawValue: "peerBusy")
    /// The other end could not answer the request; the reason is the other end's.
    public static let requestFailed = Self(rawValue: "requestFailed")
    /// A request or a reply could not be encoded, or is not a value of the expected type.
    public static let malformedMessage = Self(rawValue: "malformedMessage")
    /// The group's keys cannot be used; the reason is the vault's.
    public static let keysUnavailable = Self(rawValue: "keysUnavailable")
}

extension AppGroupError {
    /// Creates an error about a name.
    package static func ipc(
        _ code: Code, _ operation: String, _ subject: String, _ reason: String, _ advice: String
    ) -> Self {
        Self(
            code: code, operation: operation, subject: DisplayText.identifier(subject), reason: reason, advice: advice)
    }

    /// Creates an error for a failure on the files or sockets of a name.
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

    /// Creates an error for a kernel error number on a semaphore or memory.
    package static func kernel(_ number: Int32, _ operation: String, _ name: GroupIPCName) -> Self {
        let subject = name.description
        switch number {
        case EIDRM, EINVAL:
            return .ipc(.ipcRemoved, operation, subject, "it was removed while it was open", "Open it again.")
        case ENOSPC, ENOMEM:
            return .ipc(
                .ipcLimit, operation, subject, "the system allows no more of them",
                "See the limits and the objects in use: ipcs -l; ipcs -a")
        case ERANGE:
            return .ipc(
                .ipcOverflow, operation, subject, "its value cannot exceed 32767",
                "Find the program that posts while no program waits.")
        case EACCES, EPERM:
            return .ipc(
                .ipcUntrusted, operation, subject, "this process has no access to it",
                "See its owner with ipcs -a, and ask the owner to remove it.")
        default:
            let failure = FileError(errno: number, operation: operation, path: subject)
            return AppGroupError(failure, operation, ipc: name)
        }
    }
}
