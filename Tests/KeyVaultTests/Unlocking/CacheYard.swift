import CryptoPrimitives
import Glibc
import KeyVault
import TestSupport

/// A fresh directory of mode 0700 on `/dev/shm`, removed with what is in it.
final class MemoryDirectory: Sendable {
    /// Whether there is a file system in memory to make one on.
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

    /// The only file of tickets in it.
    func onlyFile() throws -> String {
        let names = try SystemFile.names(tickets)
        guard let name = names.first, names.count == 1 else { throw MemoryDirectoryFailure() }
        return "\(tickets)/\(name)"
    }
}

struct MemoryDirectoryFailure: Error {}

/// Both caches, for tests that hold for either.
enum CacheKind: String, CaseIterable, Sendable {
    case kernel, file

    /// Those that work on this system.
    static let usable = allCases.filter { $0 == .kernel ? hasKernelKeyring : MemoryDirectory.isAvailable }
    /// Whether the kernel lets this process use its keyrings; containers often do not.
    static let hasKernelKeyring = UnlockCaches.kernelKeyring.isUsable
}

/// One cache of a kind, with what it needs.
struct CacheYard {
    let kind: CacheKind
    let caches: UnlockCaches
    let memory: MemoryDirectory?

    init(_ kind: CacheKind) throws {
        self.kind = kind
        memory = kind == .file ? try MemoryDirectory() : nil
        caches = memory.map { .runtimeFile(below: $0.path) } ?? .kernelKeyring
    }

    /// How a child process is told of it.
    var argument: String { memory?.path ?? "kernel" }
}

/// Asks again until the answer is true, for half a minute at most.
func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
    for _ in 0..<600 {
        if try condition() { return true }
        usleep(50_000)
    }
    return false
}
