internal import Glibc
internal import SharedFiles
internal import SystemPackage

/// The path of a configuration file, which may not exist.
struct ConfigurationPath: Sendable {
    let path: String
    let wasRead: Bool
}

/// The configuration files of this user and of this machine.
enum ConfigurationFile {
    /// The variable that names the only file to read, instead of both.
    static let variable = "SEALCTL_CONFIG"
    private static let leaf = "sealedstate/config.json"
    private static let limit = 64 << 10

    /// Reads the files, this user's first.
    ///
    /// - Throws: `Failure` of status 78 that names the file, and the key if one is at fault.
    static func readAll() throws(Failure) -> (layers: [SettingLayer], paths: [ConfigurationPath]) {
        #if CommandLineConfiguration
        if let stated = stated { return try read([stated], isStated: true) }
        return try read([ofUser, FilePath("/etc").appending(leaf)].compactMap { $0 }, isStated: false)
        #else
        guard let stated = stated else { return ([], []) }
        throw Failure(
            .configuration, "noConfiguration", "this sealctl does not read configuration files such as \(stated)",
            hint: "Build it with the trait CommandLineConfiguration, or unset \(variable).")
        #endif
    }

    private static var stated: FilePath? {
        guard let value = getenv(variable), value.pointee != 0 else { return nil }
        return FilePath(platformString: value)
    }

    /// The user's file. A relative path is ignored, as the XDG base directory specification requires.
    private static var ofUser: FilePath? {
        if let base = absolute("XDG_CONFIG_HOME") { return base.appending(leaf) }
        return absolute("HOME").map { $0.appending(".config").appending(leaf) }
    }

    static func absolute(_ variable: String) -> FilePath? {
        let path = getenv(variable).map { FilePath(platformString: $0) }
        return path.flatMap { $0.isAbsolute ? $0 : nil }
    }

    private static func read(
        _ paths: [FilePath], isStated: Bool
    ) throws(Failure) -> (layers: [SettingLayer], paths: [ConfigurationPath]) {
        var layers: [SettingLayer] = []
        var looked: [ConfigurationPath] = []
        for path in paths {
            let layer = try layer(of: path, isStated: isStated)
            if let layer { layers.append(layer) }
            looked.append(ConfigurationPath(path: path.string, wasRead: layer != nil))
        }
        return (layers, looked)
    }

    /// Returns `nil` if the file does not exist and was not stated.
    private static func layer(of path: FilePath, isStated: Bool) throws(Failure) -> SettingLayer? {
        // Most users have no file, and every command runs this. A file in another user's home directory, which this
        // user cannot search, is not this user's.
        if !isStated, access(path.string, F_OK) != 0, [ENOENT, ENOTDIR, EACCES].contains(errno) { return nil }
        let bytes: [UInt8]
        do throws(FileError) {
            let file = try open(path)
            try requireOwn(file, path)
            try ConfigurationDirectory.requireSafe(path)
            bytes = try read(file)
        } catch {
            let failure = Failure(error)
            throw Failure(.configuration, failure.code, failure.message, hint: failure.hint)
        }
        guard bytes.count <= limit else {
            throw Failure(
                .configuration, "badConfiguration", "\(path) has more than \(limit >> 10) KiB",
                hint: "See sealctl help configuration.")
        }
        return try ConfigurationText(bytes, of: path).layer()
    }

    /// Opens without blocking, so that a pipe under that name does not block every command.
    private static func open(_ path: FilePath) throws(FileError) -> Descriptor {
        let opened = Glibc.open(path.string, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard opened >= 0 else { throw FileError(errno: errno, operation: "read the configuration", path: path.string) }
        return Descriptor(owning: opened, path: path.string)
    }

    /// Checks the owner and mode. The file names the key file and the directories of vaults, so a user with write
    /// permission could replace them.
    private static func requireOwn(_ file: borrowing Descriptor, _ path: FilePath) throws(FileError) {
        let facts = try file.attributes()
        guard facts.kind == .regular else {
            throw FileError(.notRegularFile, operation: "read the configuration", path: path.string)
        }
        guard facts.uid == geteuid() || facts.uid == 0 else {
            throw FileError(
                .wrongOwner, operation: "read the configuration", path: path.string,
                advice: "It must belong to this user or to root.")
        }
        guard facts.mode & 0o022 == 0 else {
            throw FileError(
                .unsafeMode, operation: "read the configuration", path: path.string,
                advice: "Other users can write to it: chmod go-w \(path.string)")
        }
    }

    private static func read(_ file: borrowing Descriptor) throws(FileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var rest = bytes.mutableSpan
        let count = try rest.withUnsafeMutableBytes { buffer throws(FileError) in try file.read(into: buffer) }
        return Array(bytes[..<count])
    }
}

/// The directory of a configuration file. A user who can rename files there can replace the configuration.
enum ConfigurationDirectory {
    private static let reading = "trust the configuration in"

    /// Checks the directory of the name, the directory of a link's target, and all directories above them.
    static func requireSafe(_ path: FilePath) throws(FileError) {
        let above = path.removingLastComponent()
        let named = try real(above.isEmpty ? "." : above.string)
        let file = FilePath(try real(path.string)).removingLastComponent().string
        for directory in Set([named, file]) { try requireSafe(directory: directory) }
    }

    private static func requireSafe(directory path: String) throws(FileError) {
        let directory = try Directory.open(path)
        let facts = try directory.attributes(".")
        guard facts.mode & S_IWOTH == 0 || facts.mode & S_ISVTX != 0 else {
            throw FileError(
                .unsafeMode, operation: reading, path: path,
                advice: "Other users can replace the file. As its owner: chmod o-w \(path.shellQuoted)")
        }
        guard facts.uid == geteuid() || facts.uid == 0 else {
            throw FileError(
                .wrongOwner, operation: reading, path: path,
                advice: "The directory must belong to this user or to root.")
        }
        do throws(FileError) { try directory.requireSafeAncestors() } catch {
            // The advice for vaults names a variable that does not apply to this file.
            guard error.code == .wrongOwner else { throw error }
            throw FileError(
                .wrongOwner, operation: reading, path: error.path,
                advice: "Another user can rename its entries: keep the configuration elsewhere.")
        }
    }

    /// Returns the path without links.
    private static func real(_ path: String) throws(FileError) -> String {
        guard let found = realpath(path, nil) else {
            throw FileError(errno: errno, operation: "look for the configuration", path: path)
        }
        defer { free(found) }
        return String(cString: found)
    }
}
