package import SystemPackage

/// The locations of containers, vaults, key files and watermarks.
///
/// A home has six directories. They need not exist: the first writer creates each with mode `0700`.
///
/// | directory | with `SEALED_GROUPS_HOME=R` | without |
/// | --- | --- | --- |
/// | containers | `R/Containers` | `$XDG_DATA_HOME/sealed-groups/Containers` |
/// | their registry and trash | `R/Registry`, `R/Trash` | `$XDG_DATA_HOME/sealed-groups/Registry`, `…/Trash` |
/// | vaults | `R/Vaults` | `$XDG_DATA_HOME/sealed-groups/Vaults` |
/// | key files | `R/Keys` | `$XDG_CONFIG_HOME/sealed-groups/Keys` |
/// | watermarks | `R/Watermarks` | `$XDG_STATE_HOME/sealed-groups/Watermarks` |
///
/// Key files are stored apart from the vaults, so that a backup of the data directory does not contain the keys. Key
/// files and watermarks belong to one unix user. If `R` exists and belongs to another user, those of this user are
/// stored as in the right column, so several users share `R` without a variable of their own. The watermarks are stored
/// there as well if other users can rename entries of `R`, `R` itself or a directory above it. `SEALED_USER_HOME=U`
/// overrides both and puts them in `U/Keys` and `U/Watermarks`.
public struct GroupsHome: Hashable, Sendable {
    /// The directory of the containers, with a directory per app group.
    package let containersPath: FilePath

    /// The directory of the registries, with a directory per app group that has a created or registered container.
    package let registryPath: FilePath

    /// Containers that were given up, kept until they are explicitly deleted.
    package let trashPath: FilePath

    /// The directory of the vaults, with a file per access group.
    package let vaultsPath: FilePath

    /// The directory of a vault that replaces every group's own; nil for those in ``vaultsPath``.
    package private(set) var vaultPath: FilePath?

    /// The directory of the key files that open vaults unattended.
    package private(set) var keysPath: FilePath

    /// The directories of what this user's programs remember. They are useless on another machine, hence not data.
    private var memories: MemoryPaths

    /// The directory of the watermarks of this user's readers.
    package var watermarksPath: FilePath { memories.watermarks[0] }

    /// The alternative directory of the watermarks: in the home, or in this user's state directory. Modes of parent
    /// directories change, and a user namespace shows other owners. A vault that has its watermark there and not at
    /// ``watermarksPath`` keeps it there. `nil` if there is no such directory.
    package var otherWatermarksPath: FilePath? { memories.watermarks.dropFirst().first }

    /// The directory of this user's copies of last good values, beside that of the watermarks: a directory per vault.
    package var lastGoodPath: FilePath { watermarksPath.removingLastComponent().appending("LastGood") }

    /// The directories of the memories of vaults, beside those of the watermarks: the one that is written, then the
    /// other one that is read, if there is one.
    package var placesPaths: [FilePath] { memories.places }

    /// The directories of the memories of rosters, as ``placesPaths``.
    package var rostersPaths: [FilePath] { memories.rosters }

    /// Returns the same home with one vault, for example a restored copy's, in place of any group's own.
    ///
    /// - Parameter path: The vault's directory. A vault of another group is rejected when it is opened.
    package func withVault(at path: FilePath) -> GroupsHome {
        var (home, path) = (self, path)
        // The opening rejects a link in the place of the last component, and `.` would be behind one.
        while path.components.count > 1, path.lastComponent?.kind == .currentDirectory, path.removeLastComponent() {}
        home.vaultPath = path
        return home
    }

    /// Returns the home of this process, from its environment.
    ///
    /// In a set-user-ID or set-group-ID program the environment belongs to the caller and is not read; the home comes
    /// from the user database.
    ///
    /// - Throws: ``AppGroupError`` with `invalidHome` if `SEALED_GROUPS_HOME` or `SEALED_USER_HOME` is not an absolute
    ///   path, or `homeUnavailable` if neither `HOME` nor the user database names a home directory.
    public static func current() throws(AppGroupError) -> GroupsHome {
        try GroupsHome(environment: HomeEnvironment.read())
    }

    /// Creates a home below one directory, or two, like `SEALED_GROUPS_HOME` and `SEALED_USER_HOME`.
    ///
    /// - Parameters:
    ///   - root: A path. A relative one is resolved against the working directory now, so that a later change of
    ///     directory does not move the home.
    ///   - userRoot: The directory of key files and watermarks; nil for `root`, or for this user's own XDG directories
    ///     if other users can rename entries of `root`.
    /// - Precondition: Neither contains NUL, which would silently truncate it.
    public init(root: String, userRoot: String? = nil) {
        self.init(root: Self.absolute(root), userRoot: userRoot.map(Self.absolute)) {
            BaseDirectories(
                ofEffectiveUser: (try? HomeEnvironment.read()) ?? [:], accountHome: AccountHome.ofEffectiveUser)
        }
    }

    private static func absolute(_ path: String) -> FilePath {
        precondition(!path.utf8.contains(0), "a path cannot hold NUL")
        return FilePath(path).madeAbsolute()
    }

    /// - Parameter bases: The directories of this user, evaluated only without `userRoot`.
    private init(root: FilePath, userRoot: FilePath?, bases: () -> BaseDirectories) {
        containersPath = root.appending("Containers")
        registryPath = root.appending("Registry")
        trashPath = root.appending("Trash")
        vaultsPath = root.appending("Vaults")
        let root = userRoot ?? root
        keysPath = root.appending("Keys")
        memories = MemoryPaths(in: [root])
        // If this user has no directory, the other user's stays and is rejected when it is opened.
        guard userRoot == nil, case let bases = bases(),
            let state = try? bases.state().appending(Self.directoryName)
        else { return }
        let isAnother = HomeOwner.isAnother(root)
        // A user notices a missing key file; missing watermarks would look like a first contact.
        if isAnother, let configuration = try? bases.configuration() {
            keysPath = configuration.appending(Self.directoryName).appending("Keys")
        }
        // A home that others can rename is still better than a directory that cannot be created.
        let isInState = isAnother || (HomeOwner.isChangeableByOthers(root) && HomeOwner.canMake(state))
        let (chosen, other) = isInState ? (state, root) : (root, state)
        // If both are one directory, an acceptance would remove from the other one what it has just stored.
        let isOtherRead = !isAnother && MemoryPaths.isKept(in: other) && !HomeOwner.isSame(chosen, other)
        memories = MemoryPaths(in: isOtherRead ? [chosen, other] : [chosen])
    }

    /// The home that an environment means.
    ///
    /// - Parameters:
    ///   - environment: Only the names of ``HomeEnvironment/names`` are read. By the XDG base directory specification
    ///     an empty or relative `XDG_*_HOME` counts as unset; so does such a `HOME`. An empty or relative
    ///     `SEALED_GROUPS_HOME` or `SEALED_USER_HOME` is an error instead: a fallback would put state in an
    ///     unexpected place.
    ///   - accountHome: The home directory in the user database, evaluated only if the environment does not decide.
    /// - Throws: ``AppGroupError`` with `invalidHome` or `homeUnavailable`.
    package init(
        environment: [String: String], accountHome: () -> String? = AccountHome.read
    ) throws(AppGroupError) {
        let userRoot = try Self.absolutePath(HomeEnvironment.user, in: environment)
        if let root = try Self.absolutePath(HomeEnvironment.root, in: environment) {
            self.init(root: root, userRoot: userRoot) {
                BaseDirectories(ofEffectiveUser: environment, accountHome: accountHome)
            }
        } else {
            try self.init(BaseDirectories(environment: environment, accountHome: accountHome), userRoot: userRoot)
        }
    }

    private static func absolutePath(
        _ variable: String, in environment: [String: String]
    ) throws(AppGroupError) -> FilePath? {
        guard let value = environment[variable] else { return nil }
        let path = FilePath(value)
        guard path.isAbsolute else { throw .relativeHome(variable, value) }
        return path
    }

    private init(_ bases: BaseDirectories, userRoot: FilePath?) throws(AppGroupError) {
        let data = try bases.data().appending(Self.directoryName)
        containersPath = data.appending("Containers")
        registryPath = data.appending("Registry")
        trashPath = data.appending("Trash")
        vaultsPath = data.appending("Vaults")
        if let userRoot {
            keysPath = userRoot.appending("Keys")
            memories = MemoryPaths(in: [userRoot])
        } else {
            keysPath = try bases.configuration().appending(Self.directoryName).appending("Keys")
            memories = try MemoryPaths(in: [bases.state().appending(Self.directoryName)])
        }
    }

    private static let directoryName = "sealed-groups"
}

/// The directories of each kind of memory. They are derived once, since every opening of a vault needs them.
private struct MemoryPaths: Hashable {
    private static let names = ["Watermarks", "Places", "Rosters"]

    let watermarks: [FilePath]
    let places: [FilePath]
    let rosters: [FilePath]

    init(in directories: [FilePath]) {
        let paths = Self.names.map { name in directories.map { $0.appending(name) } }
        (watermarks, places, rosters) = (paths[0], paths[1], paths[2])
    }

    /// Returns `true` if the directory has one of them.
    static func isKept(in directory: FilePath) -> Bool {
        names.contains { HomeOwner.isDirectory(directory.appending($0)) }
    }
}

extension FilePath {
    fileprivate func madeAbsolute() -> FilePath {
        guard isRelative, let here = WorkingDirectory.path() else { return self }
        return here.pushing(self)
    }
}

/// The user's base directories by the XDG base directory specification 0.8: each from its own variable, else below
/// the home directory.
struct BaseDirectories {
    private let environment: [String: String]
    private let home: FilePath?

    /// Reads the user database once, and only if `HOME` is needed and not usable: a lookup may contact a server.
    init(environment: [String: String], accountHome: () -> String?) {
        self.environment = environment
        let isHomeNeeded = [HomeEnvironment.data, HomeEnvironment.configuration, HomeEnvironment.state]
            .contains { Self.absolutePath(environment[$0]) == nil }
        home =
            isHomeNeeded
            ? Self.absolutePath(environment[HomeEnvironment.home]) ?? Self.absolutePath(accountHome())
            : nil
    }

    /// Creates the directories of the effective user. Ignores a variable that names a directory of another user: `sudo`
    /// and `setpriv` keep the caller's `HOME`.
    init(ofEffectiveUser environment: [String: String], accountHome: () -> String?) {
        let own = environment.filter { name, value in
            !HomeEnvironment.personal.contains(name) || !HomeOwner.isAnother(FilePath(value))
        }
        self.init(environment: own, accountHome: accountHome)
    }

    func data() throws(AppGroupError) -> FilePath {
        try directory(named: HomeEnvironment.data, default: ".local/share")
    }

    func configuration() throws(AppGroupError) -> FilePath {
        try directory(named: HomeEnvironment.configuration, default: ".config")
    }

    func state() throws(AppGroupError) -> FilePath {
        try directory(named: HomeEnvironment.state, default: ".local/state")
    }

    private func directory(named variable: String, default relative: FilePath) throws(AppGroupError) -> FilePath {
        if let path = Self.absolutePath(environment[variable]) { return path }
        guard let home else { throw .homeUnavailable() }
        return home.pushing(relative)
    }

    /// Returns nil for relative values, which the specification ignores; an empty one is relative.
    private static func absolutePath(_ text: String?) -> FilePath? {
        guard let text else { return nil }
        let path = FilePath(text)
        return path.isAbsolute ? path : nil
    }
}
