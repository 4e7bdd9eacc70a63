internal import CLinux
internal import Glibc
package import SharedFiles

/// Tickets as keys of type `user` in the kernel's user keyring: never on a disk, never swapped with a process, and gone
/// when the machine restarts (keyrings(7)).
///
/// The user keyring is one for all logins and services of a user. A key's possessor has no rights here, only the user has:
/// else a program that was started as another user with the session keyring of this one could read it.
struct KernelKeyring: UnlockCache {
    /// For the user: view, read, search, link and set attributes, but not write. For possessor, group and others: nothing.
    private static let permissions: UInt32 = 0x003B_0000
    private static let type = "user"

    var place: UnlockPlace { .kernelKeyring }

    /// A search, which every other call begins with, for a name that nobody gives.
    var isUsable: Bool {
        let found = clinux_key_search(clinux_user_keyring, Self.type, "sealedstate-")
        return found >= 0 || Self.isMissing(found)
    }

    /// The key is made aside and linked when it is complete: linking displaces the old one in one step, and at no time is
    /// there one without its permissions or its time limit.
    func store(
        _ ticket: UnsafeRawBufferPointer, as name: UnlockName, for lifetime: Duration?
    ) throws(VaultError) {
        let displaced = clinux_key_search(clinux_user_keyring, Self.type, name.text)
        let key = clinux_key_add(
            clinux_thread_keyring, Self.type, name.text, ticket.baseAddress, UInt64(ticket.count))
        guard key >= 0 else { throw refusal(key) }
        let result = publish(key, for: lifetime)
        _ = clinux_key_unlink(key, clinux_thread_keyring)
        guard result >= 0 else { throw refusal(result) }
        // A displaced key can be read by its number until the kernel has collected it.
        if displaced >= 0 { Self.end(displaced) }
    }

    /// A quota that is used up is no room here; the next cache may have some.
    private func refusal(_ result: Int32) -> VaultError {
        let error = failure(result)
        return -result == EDQUOT ? .noUnlockCache(place, error.reason) : error
    }

    private func publish(_ key: Int32, for lifetime: Duration?) -> Int32 {
        if let lifetime {
            let result = clinux_key_set_timeout(key, Self.seconds(lifetime))
            if result < 0 { return result }
        }
        let result = clinux_key_set_permissions(key, Self.permissions)
        // Without a possessor's rights it takes the user's to link it, which have just been given.
        return result < 0 ? result : clinux_key_link(key, clinux_user_keyring)
    }

    func read(_ name: UnlockName, into buffer: UnsafeMutableRawBufferPointer) throws(VaultError) -> Int? {
        let key = clinux_key_search(clinux_user_keyring, Self.type, name.text)
        if Self.isMissing(key) { return nil }
        guard key >= 0 else { throw failure(key) }
        let size = clinux_key_read(key, buffer.baseAddress, UInt64(buffer.count))
        // Between the two calls it may have been removed, or have expired.
        if Self.isMissing(Int32(truncatingIfNeeded: size)) { return nil }
        guard size >= 0 else { throw failure(Int32(truncatingIfNeeded: size)) }
        return size <= buffer.count ? Int(size) : nil
    }

    func remove(_ name: UnlockName) throws(VaultError) {
        try remove(
            searching: { clinux_key_search(clinux_user_keyring, Self.type, name.text) },
            ending: { key in
                Self.end(key)
                _ = clinux_key_unlink(key, clinux_user_keyring)
            })
    }

    /// Asks again after each removal: several programs may be storing at once.
    ///
    /// - Throws: `VaultError` `.file` where there is one to the last.
    func remove(searching search: () -> Int32, ending end: (Int32) -> Void) throws(VaultError) {
        for _ in 0..<8 {
            let key = search()
            if Self.isMissing(key) { return }
            guard key >= 0 else { throw failure(key) }
            end(key)
        }
        let left = search()
        if Self.isMissing(left) { return }
        guard left >= 0 else { throw failure(left) }
        throw VaultError(
            .file, "remove the unlocked keys from", place.description, "They are there again after each removal.",
            advice: "See who puts them there (keyctl show @u), and lock again.")
    }

    /// The kernel drops what is over.
    func wipeExpired(_ name: UnlockName) {}

    /// Ends a key for everybody, also for those who know its number.
    private static func end(_ key: Int32) {
        if clinux_key_invalidate(key) < 0 { _ = clinux_key_revoke(key) }
    }

    private static func isMissing(_ result: Int32) -> Bool {
        [ENOKEY, EKEYEXPIRED, EKEYREVOKED].contains(-result)
    }

    /// Up to two seconds more, so that the ticket's own, finer limit decides: the kernel counts from the begun second of
    /// the wall clock.
    private static func seconds(_ lifetime: Duration) -> UInt32 { UInt32(clamping: lifetime.components.seconds &+ 2) }

    /// What a refusal by the kernel means: only some say that there is no keyring to be had here. All others are told: what
    /// cannot be looked at may hold keys.
    func failure(_ result: Int32) -> VaultError {
        let cause = FileError(errno: -result, operation: "use", path: place.description)
        guard [ENOSYS, EPERM, EACCES].contains(-result) else {
            return VaultError(
                .file, "use", place.description, cause.reason, advice: cause.advice, underlying: cause)
        }
        return .noUnlockCache(place, cause.sentence)
    }
}

/// The keyring that a login or a service gives to its processes, session-keyring(7).
package enum SessionKeyring {
    /// Gives this process a fresh one, as a new login or service has: what follows stands in for such a process.
    ///
    /// - Throws: `FileError` `.permissionDenied` or `.unsupported` where keyrings are out of reach.
    package static func joinFresh() throws(FileError) {
        let result = clinux_join_session_keyring()
        if result < 0 { throw FileError(errno: -result, operation: "join", path: "a session keyring") }
    }
}
