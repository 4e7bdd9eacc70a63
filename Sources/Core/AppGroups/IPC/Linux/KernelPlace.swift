internal import Glibc
internal import SharedFiles

/// Where the kernel keeps semaphores and shared memory of this process: they end with the machine's start, and are seen only
/// in their IPC namespace (ipc_namespaces(7)).
struct KernelPlace: Hashable, Sendable {
    /// 16 bytes, `/proc/sys/kernel/random/boot_id`; zeros where the kernel does not tell.
    let boot: [UInt8]
    /// Number of the namespace; 0 where the kernel does not tell.
    let namespace: UInt64

    /// This process's. A process may move to another namespace while it runs: it is asked each time.
    static func current() -> Self { Self(boot: bootID, namespace: namespaceNumber()) }

    private static let bootID: [UInt8] = {
        guard let file = try? Descriptor.openForReading(path: "/proc/sys/kernel/random/boot_id") else { return unknown }
        let digits = withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            let count = (try? file.read(into: buffer)) ?? 0
            return buffer[0..<count].compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        }
        guard digits.count == 32 else { return unknown }
        return (0..<16).map { UInt8(digits[2 * $0] << 4 | digits[2 * $0 + 1]) }
    }()

    private static let unknown = [UInt8](repeating: 0, count: 16)

    private static func namespaceNumber() -> UInt64 {
        var status = stat()
        return stat("/proc/self/ns/ipc", &status) == 0 ? UInt64(status.st_ino) : 0
    }
}
