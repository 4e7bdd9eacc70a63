internal import AppGroups
internal import CLinux
internal import Glibc
internal import SharedFiles

/// The places of a channel's socket: `.sockets/<name>` in the container, then `sealedstate/<group>/<name>` below the
/// directories of the service manager. None of them is trusted: both ends prove that they hold the group's keys.
struct ChannelPlace: Sendable {
    let name: GroupIPCName
    let container: GroupContainer

    /// Connects to the first place where a process listens; returns nil if its backlog is full.
    ///
    /// - Throws: `AppGroupError` with `nobodyListens`, `file`; the errors of `GroupContainer.open`.
    func connectAtOnce() throws(AppGroupError) -> Descriptor? {
        let missing: AppGroupError
        do throws(AppGroupError) {
            return try SocketPlace(name, in: container, creating: false).connectAtOnce()
        } catch {
            guard error.code == .nobodyListens else { throw error }
            missing = error
        }
        for base in Self.runtimeDirectories {
            let place = "\(base)\(runtimePath)"
            do throws(FileError) {
                switch try LocalSocket.connect(to: name.name, in: try Directory.open(place), .stream) {
                case .open(let socket): return socket
                case .busy: return nil
                case .gone: continue
                case .foreign:
                    throw FileError(.notRegularFile, operation: "connect to", path: "\(place)/\(name.name)")
                }
            } catch {
                guard error.code == .notFound else { throw AppGroupError(error, "connect to", ipc: name) }
            }
        }
        throw missing
    }

    /// The path of the sockets that systemd listens at for user and for system services (`%t` of systemd.unit(5)).
    private static var runtimeDirectories: [String] {
        let own = SecureEnvironment.value("XDG_RUNTIME_DIR").flatMap { String(validatingCString: $0) }
        return [own].compactMap { $0?.hasPrefix("/") == true ? $0 : nil } + ["/run"]
    }

    private var runtimePath: String { "/sealedstate/\(container.group)" }

    // MARK: Listening

    /// The first descriptor that the service manager passes (sd_listen_fds(3)).
    private static let firstPassed: Int32 = 3

    /// Returns the listening socket that the service manager passed to this process for the channel; nil if it passed
    /// none.
    ///
    /// - Throws: `AppGroupError` with `file` if the process has no free descriptor.
    func adoptedSocket() throws(AppGroupError) -> Descriptor? {
        for descriptor in Self.passed {
            var path = [CChar](repeating: 0, count: 109)
            guard clinux_listening_path(descriptor, &path) == 1,
                let text = path.withUnsafeBufferPointer({ $0.baseAddress.flatMap { String(validatingCString: $0) } }),
                text.hasSuffix("\(runtimePath)/\(name.name)")
            else { continue }
            let adopted = clinux_adopt(descriptor)
            guard adopted >= 0 else {
                throw AppGroupError(
                    FileError(errno: -adopted, operation: "use the socket", path: text), "listen", ipc: name)
            }
            return Descriptor(owning: adopted, path: text)
        }
        return nil
    }

    /// The descriptors that the service manager passed to this process, by `LISTEN_PID` and `LISTEN_FDS`.
    private static var passed: Range<Int32> {
        guard let process = SecureEnvironment.value("LISTEN_PID"), let count = SecureEnvironment.value("LISTEN_FDS"),
            Int32(String(cString: process)) == getpid(), let number = Int32(String(cString: count)), number > 0,
            number < 1 << 16
        else { return firstPassed..<firstPassed }
        return firstPassed..<firstPassed + number
    }
}
