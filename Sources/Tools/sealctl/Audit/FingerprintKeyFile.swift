internal import ContainerAudit
internal import CryptoPrimitives
internal import Glibc
internal import PropertyLists
internal import Sealing
internal import SharedFiles
internal import SystemPackage

/// The file of the key that fingerprints are made with: 64 hexadecimal digits and a line's end.
///
/// It opens nothing; whoever has it can try values against an ignore file. So it lies with the person, never beside the
/// ignore file, and each place that is to share baselines gets the same one.
enum FingerprintKeyFile {
    private static let name = "audit.key"

    /// The key of a file that was named.
    static func read(_ path: String) throws(Failure) -> FingerprintKey {
        let text = String(decoding: try SmallFile.read(path, limit: 4096), as: UTF8.self)
        guard let key = key(text) else {
            throw Failure(
                .dataError, "badFingerprintKey", "\(path) holds no fingerprint key",
                hint: "It has 64 hexadecimal digits: openssl rand -hex 32.")
        }
        return key
    }

    /// The user's own key, made where there is none yet.
    ///
    /// - Returns: no key and a note where it can neither be read nor made: an audit works without.
    static func usual() -> (key: FingerprintKey?, note: String?) {
        guard let directory else {
            return (nil, "There is no home for a fingerprint key, so findings have no fingerprints.")
        }
        let path = directory.appending(name).string
        do throws(Failure) {
            if !KnownFindings.isThere(path) { try make(in: directory) }
            return (try read(path), looseMode(of: path))
        } catch {
            return (nil, "Findings have no fingerprints: \(error.message).")
        }
    }

    /// Two runs at once may both make one: the first that gets the name stays.
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
        Talk.detail("made the fingerprint key \(path.appending(name).string)")
    }

    /// What a report says of a key file that others may read; nil where they may not.
    static func looseMode(of path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & 0o077 != 0 else { return nil }
        return "Others may read the fingerprint key: chmod 600 \(path.shellQuoted)"
    }

    private static func key(_ text: String) -> FingerprintKey? {
        let digits = Array(text.utf8.prefix { $0 > 0x20 })
        guard digits.count == 64, text.utf8.dropFirst(64).allSatisfy({ $0 <= 0x20 }) else { return nil }
        return digits.withUnsafeBytes { HexDigits.decode($0) }.flatMap { FingerprintKey(bytes: $0) }
    }

    /// Below the user's configuration; nothing relative counts, as the XDG base directory specification has it.
    private static var directory: FilePath? {
        if let own = variable("XDG_CONFIG_HOME") { return own.appending("sealedstate") }
        // Users without a home have the name of one that is not there (`/nonexistent`): it is not for us to make.
        guard let home = variable("HOME"), KnownFindings.isThere(home.string) else { return nil }
        return home.appending(".config").appending("sealedstate")
    }

    private static func variable(_ name: String) -> FilePath? {
        guard let value = getenv(name) else { return nil }
        let path = FilePath(platformString: value)
        return path.isAbsolute ? path : nil
    }
}
