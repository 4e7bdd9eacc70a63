import CryptoPrimitives
import Glibc
import KeyVault
import TestSupport

/// A new directory of mode 0700 on `/dev/shm`, removed with its contents.
final class MemoryDirectory: Sendable {
    /// True if a file system in memory is available.
    static let isAvailable = access("/dev/shm", W_OK) == 0

    let path: String

    init() throws {
        var template = Array("/dev/shm/sealed-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw MemoryDirectoryFailure() }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Self.remove(path) }

    private static func remove(_ path: String) {
        if unlink(path) == 0 { return }
        for name in (try? SystemFile.names(path)) ?? [] { remove("\(path)/\(name)") }
        rmdir(path)
    }

    /// The directory of tickets.
    var tickets: String { "\(path)/sealed-groups" }

    /// Returns the only file of tickets.
    func onlyFile() throws -> String {
        let names = try SystemFile.names(tickets)
        guard let name = names.first, names.count == 1 else { throw MemoryDirectoryFailure() }
        return "\(tickets)/\(name)"
    }
}

struct MemoryDirectoryFailure: Error {}

/// Both caches, for tests that apply to either.
enum CacheKind: String, CaseIterable, Sendable {
    case kernel, file

    /// The caches that work on this system.
    static let usable = allCases.filter { $0 == .kernel ? hasKernelKeyring : MemoryDirectory.isAvailable }
    /// True if the kernel lets this process use its keyrings, which containers often do not.
    static let hasKernelKeyring = UnlockCaches.kernelKeyring.isUsable
}

/// One cache of a kind, with its resources.
struct CacheSandbox {
    let kind: CacheKind
    let caches: UnlockCaches
    let memory: MemoryDirectory?

    init(_ kind: CacheKind) throws {
        self.kind = kind
        memory = kind == .file ? try MemoryDirectory() : nil
        caches = memory.map { .runtimeFile(below: $0.path) } ?? .kernelKeyring
    }

    /// The argument that names the cache to a child process.
    var argument: String { memory?.path ?? "kernel" }
}

/// Repeats the check until it is true, for half a minute at most.
func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
    for _ in 0..<600 {
        if try condition() { return true }
        usleep(50_000)
    }
    return false
}
