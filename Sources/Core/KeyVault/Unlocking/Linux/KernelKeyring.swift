internal import CLinux
internal import Glibc
package import SharedFiles

/// Tickets as keys of type `user` in the kernel's user keyring: never on a disk, never swapped with a process, and
/// erased when the machine restarts (keyrings(7)).
///
/// All logins and services of a user share the user keyring. Only the user has rights on a key, its possessor has none:
/// otherwise a program that was started as another user with this user's session keyring could read it.
struct KernelKeyring: UnlockCache {
    /// For the user: view, read, search, link and set attributes, but not write. For possessor, group and others: nothing.
    private static let permissions: UInt32 = 0x003B_0000
    private static let type = "user"

    var place: UnlockPlace { .kernelKeyring }

    /// `true` if the keyring can be searched. Searches for a name that is never used, as every other call begins with a
    /// search.
    var isUsable: Bool {
        let found = clinux_key_search(clinux_user_keyring, Self.type, "sealedstate-")
        return found >= 0 || Self.isMissing(found)
    }

    /// Creates the key separately and links it when it is complete. Linking replaces the old one in one step, and no
    /// key is ever without its permissions or its time limit.
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
        // A replaced key can be read by its number until the kernel has collected it.
        if displaced >= 0 { Self.end(displaced) }
    }

    /// Returns the error of a store. An exhausted quota means that the next cache is tried.
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
        // Without a possessor's rights, linking needs the user's, which were just granted.
        return result < 0 ? result : clinux_key_link(key, clinux_user_keyring)
    }

    func read(_ name: UnlockName, into buffer: UnsafeMutableRawBufferPointer) throws(VaultError) -> Int? {
        let key = clinux_key_search(clinux_user_keyring, Self.type, name.text)
        if Self.isMissing(key) { return nil }
        guard key >= 0 else { throw failure(key) }
        let size = clinux_key_read(key, buffer.baseAddress, UInt64(buffer.count))
        // Between the two calls the key may have been removed, or have expired.
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

    /// Searches again after each removal, because several programs may be storing at once.
    ///
    /// - Throws: `VaultError` `.file` if a key is still found after the last try.
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
            .file, "remove the unlocked keys from", place.description, "They appear again after each removal.",
            advice: "Find the program that adds them (keyctl show @u), and lock again.")
    }

    /// Does nothing: the kernel drops expired keys.
    func wipeExpired(_ name: UnlockName) {}

    /// Revokes a key for all processes, including those that know its number.
    private static func end(_ key: Int32) {
        if clinux_key_invalidate(key) < 0 { _ = clinux_key_revoke(key) }
    }

    private static func isMissing(_ result: Int32) -> Bool {
        [ENOKEY, EKEYEXPIRED, EKEYREVOKED].contains(-result)
    }

    /// Adds up to two seconds, so that the ticket's own, finer limit decides: the kernel counts from the current whole
    /// second of the wall clock.
    private static func seconds(_ lifetime: Duration) -> UInt32 { UInt32(clamping: lifetime.components.seconds &+ 2) }

    /// Returns the error for a kernel error. Only some mean that no keyring is available. All others are reported,
    /// because a keyring that cannot be searched may contain keys.
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
    /// Joins a new session keyring, as a new login or service has, so that this process can act as one.
    ///
    /// - Throws: `FileError` `.permissionDenied` or `.unsupported` if keyrings are not available.
    package static func joinFresh() throws(FileError) {
        let result = clinux_join_session_keyring()
        if result < 0 { throw FileError(errno: -result, operation: "join", path: "a session keyring") }
    }
}
