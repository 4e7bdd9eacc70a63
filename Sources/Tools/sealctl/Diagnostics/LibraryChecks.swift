internal import CryptoPrimitives
internal import Glibc

/// Checks of libsodium and of the protection of secrets in memory.
enum LibraryChecks {
    static func examine() -> [Diagnosis] { [sodium(), lockedMemory(), coreFiles()] }

    private static func sodium() -> Diagnosis {
        let name = "libsodium \(Sodium.version)"
        guard SelfTest.passes else {
            return .fail(
                "libsodium", "\(name) computes wrong results",
                remedy: "Install it again; do not seal anything until then."
            )
        }
        return .ok("libsodium", "\(name), self-test passed")
    }

    /// The required limit in bytes: enough for a few hundred secrets, which take a page each, and one page for the
    /// library.
    private static let enough: rlim_t = 1 << 20

    /// RLIMIT_MEMLOCK of getrlimit(2), which Swift does not import.
    private static let lockedMemoryLimit: UInt32 = 8

    private static func lockedMemory() -> Diagnosis {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(lockedMemoryLimit), &limit)
        if limit.rlim_cur == rlim_t.max || geteuid() == 0 { return .ok("locked-memory", "not limited") }
        let text = "\(limit.rlim_cur >> 10) KiB may be locked"
        guard limit.rlim_cur < enough else { return .ok("locked-memory", text) }
        return .warn(
            "locked-memory", "\(text): with many secrets at once some may be swapped to a disk",
            remedy: "Raise it (ulimit -l 1024, LimitMEMLOCK= of a unit), or encrypt the swap space.")
    }

    /// Checks the limit on core files, which this program lowers itself. Some sandboxes refuse even that.
    private static func coreFiles() -> Diagnosis {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        guard limit.rlim_cur == 0 else {
            return .warn(
                "core-files", "this process may write a core file that contains secrets",
                remedy: "Start it with ulimit -c 0.")
        }
        return .ok("core-files", "none is written")
    }
}

/// Known answers, which a library gets wrong if it was built wrongly or replaced by another one.
private enum SelfTest {
    static var passes: Bool { hashIsRight && sealingIsRight }

    /// BLAKE2b-512 of "abc", appendix A of RFC 7693.
    private static var hashIsRight: Bool {
        let known: [UInt8] = [
            0xBA, 0x80, 0xA5, 0x3F, 0x98, 0x1C, 0x4D, 0x0D, 0x6A, 0x27, 0x97, 0xB6, 0x9F, 0x12, 0xF6, 0xE9,
        ]
        return Array(BLAKE2b.hash(Array("abc".utf8), count: 64).prefix(16)) == known
    }

    /// Checks that a sealed text opens, and that it does not open after one bit was changed.
    private static var sealingIsRight: Bool {
        let text = Array("self-test".utf8)
        let key = [UInt8](repeating: 7, count: XChaCha20Poly1305.keySize)
        let nonce = [UInt8](repeating: 9, count: XChaCha20Poly1305.nonceSize)
        var sealed = [UInt8](repeating: 0, count: text.count + XChaCha20Poly1305.tagSize)
        sealed.withUnsafeMutableBytes { output in
            withAll(text, key, nonce) { text, key, nonce in
                XChaCha20Poly1305.seal(text, associated: nonce, nonce: nonce, key: key, into: output)
            }
        }
        guard opened(sealed, key, nonce) == text else { return false }
        sealed[3] ^= 1
        return opened(sealed, key, nonce) == nil
    }

    private static func opened(_ sealed: [UInt8], _ key: [UInt8], _ nonce: [UInt8]) -> [UInt8]? {
        var text = [UInt8](repeating: 0, count: sealed.count - XChaCha20Poly1305.tagSize)
        let isAuthentic = text.withUnsafeMutableBytes { output in
            withAll(sealed, key, nonce) { sealed, key, nonce in
                (try? XChaCha20Poly1305.open(sealed, associated: nonce, nonce: nonce, key: key, into: output)) != nil
            }
        }
        return isAuthentic ? text : nil
    }

    private static func withAll<Result>(
        _ a: [UInt8], _ b: [UInt8], _ c: [UInt8],
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Result
    ) -> Result {
        a.withUnsafeBytes { a in b.withUnsafeBytes { b in c.withUnsafeBytes { c in body(a, b, c) } } }
    }
}
