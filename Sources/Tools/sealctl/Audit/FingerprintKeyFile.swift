internal import ContainerAudit
internal import CryptoPrimitives
internal import Glibc
internal import PropertyLists
internal import Sealing
internal import SharedFiles
internal import SystemPackage

/// The file of the key that fingerprints are made with: 64 hexadecimal digits and a line end.
///
/// The key opens nothing, but its holder can test guessed values against an ignore file. So the file is stored with the
/// user, never beside the ignore file, and each machine that shares baselines gets a copy.
enum FingerprintKeyFile {
    private static let name = "audit.key"

    /// Reads the key from a stated file.
    static func read(_ path: String) throws(Failure) -> FingerprintKey {
        let text = String(decoding: try SmallFile.read(path, limit: 4096), as: UTF8.self)
        guard let key = key(text) else {
            throw Failure(
                .dataError, "badFingerprintKey", "\(path) contains no fingerprint key",
                hint: "It has 64 hexadecimal digits: openssl rand -hex 32.")
        }
        return key
    }

    /// Returns the user's own key, which is created on first use.
    ///
    /// - Returns: No key and a note if the key can neither be read nor created. An audit works without it.
    static func usual() -> (key: FingerprintKey?, note: String?) {
        guard let directory else {
            return (nil, "There is no directory for a fingerprint key, so findings have no fingerprints.")
        }
        let path = directory.appending(name).string
        do throws(Failure) {
            if !KnownFindings.isThere(path) { try make(in: directory) }
            return (try read(path), looseMode(of: path))
        } catch {
            return (nil, "Findings have no fingerprints: \(error.message).")
        }
    }

    /// Creates the key file. If two runs create it at once, the first one that links the name wins.
    private static func make(in path: FilePath) throws(Failure) {
        let digits = SecureRandom.bytes(count: FingerprintKey.size).withUnsafeBytes { $0.hexadecimal }
        let text = Array((digits + "\n").utf8)
        do throws(FileError) {
            let directory = try Directory.create(path, sharing: .ownerOnly)
            let file = try NewFile.create(in: directory, leaf: name, mode: 0o600)
            try text.withRawBytes { bytes throws(FileError) in try file.write(bytes) }
            try file.commit(replacing: false, durability: .durable)
        } catch {
            guard error.code == .alreadyExists else { throw Failure(error, .output) }
        }
        ConsoleMessages.detail("created the fingerprint key \(path.appending(name).string)")
    }

    /// Returns a note about a key file that other users may read, or `nil` if they may not.
    static func looseMode(of path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & 0o077 != 0 else { return nil }
        return "Other users can read the fingerprint key: chmod 600 \(path.shellQuoted)"
    }

    private static func key(_ text: String) -> FingerprintKey? {
        let digits = Array(text.utf8.prefix { $0 > 0x20 })
        guard digits.count == 64, text.utf8.dropFirst(64).allSatisfy({ $0 <= 0x20 }) else { return nil }
        return digits.withUnsafeBytes { HexDigits.decode($0) }.flatMap { FingerprintKey(bytes: $0) }
    }

    /// The directory below the user's configuration. Relative paths are ignored, as the XDG base directory
    /// specification requires.
    private static var directory: FilePath? {
        if let own = variable("XDG_CONFIG_HOME") { return own.appending("sealedstate") }
        // A user without a home has a home directory that does not exist (`/nonexistent`). It must not be created here.
        guard let home = variable("HOME"), KnownFindings.isThere(home.string) else { return nil }
        return home.appending(".config").appending("sealedstate")
    }

    private static func variable(_ name: String) -> FilePath? {
        guard let value = getenv(name) else { return nil }
        let path = FilePath(platformString: value)
        return path.isAbsolute ? path : nil
    }
}
