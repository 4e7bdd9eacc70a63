package import SystemPackage

/// Where containers, vaults, key files and what readers remember lie.
///
/// A home is four directories. They need not exist: each is made, `0700`, by whoever first writes to it.
///
/// | what | with `SEALED_GROUPS_HOME=R` | without |
/// | --- | --- | --- |
/// | containers | `R/Containers` | `$XDG_DATA_HOME/sealed-groups/Containers` |
/// | vaults | `R/Vaults` | `$XDG_DATA_HOME/sealed-groups/Vaults` |
/// | key files | `R/Keys` | `$XDG_CONFIG_HOME/sealed-groups/Keys` |
/// | watermarks | `R/Watermarks` | `$XDG_STATE_HOME/sealed-groups/Watermarks` |
///
/// Key files lie apart from the vaults, so that a backup of the data directory does not carry the keys with it.
public struct GroupsHome: Hashable, Sendable {
    /// One directory per app group.
    package let containersPath: FilePath

    /// One file per access group.
    package let vaultsPath: FilePath

    /// The files that open vaults unattended.
    package let keysPath: FilePath

    /// What this user's readers have accepted; of no use on another machine, hence not data.
    package let watermarksPath: FilePath

    /// The home of this process, from its environment.
    ///
    /// In a set-user-ID or set-group-ID program the environment belongs to the caller and is not read; the user database
    /// decides for the caller's user.
    ///
    /// - Throws: ``AppGroupError`` with `invalidHome` where `SEALED_GROUPS_HOME` is not an absolute path, or
    ///   `homeUnavailable` where neither `HOME` nor the user database names a home directory.
    public static func current() throws(AppGroupError) -> GroupsHome {
        try GroupsHome(environment: HomeEnvironment.read())
    }

    /// Everything below one directory, which is what `SEALED_GROUPS_HOME` means.
    ///
    /// - Parameter root: A path. A relative one is resolved against the working directory now, so that a later change of
    ///   directory does not move the home.
    /// - Precondition: `root` holds no NUL, which would silently cut it short.
    public init(root: String) {
        precondition(!root.utf8.contains(0), "a path cannot hold NUL")
        self.init(root: FilePath(root).madeAbsolute())
    }

    private init(root: FilePath) {
        containersPath = root.appending("Containers")
        vaultsPath = root.appending("Vaults")
        keysPath = root.appending("Keys")
        watermarksPath = root.appending("Watermarks")
    }

    /// The home that an environment means.
    ///
    /// - Parameters:
    ///   - environment: Only the names of ``HomeEnvironment/names`` are looked at. As the XDG base directory
    ///     specification has it, an empty or relative `XDG_*_HOME` counts as unset; so does such a `HOME`. An empty or
    ///     relative `SEALED_GROUPS_HOME` is an error instead: falling back would put state where nobody looks for it.
    ///   - accountHome: The home directory in the user database, asked only where the environment does not decide.
    /// - Throws: ``AppGroupError`` with `invalidHome` or `homeUnavailable`.
    package init(
        environment: [String: String], accountHome: () -> String? = AccountHome.read
    ) throws(AppGroupError) {
        if let root = environment[HomeEnvironment.root] {
            guard FilePath(root).isAbsolute else { throw .relativeHome(root) }
            self.init(root: FilePath(root))
            return
        }
        try self.init(BaseDirectories(environment: environment, accountHome: accountHome))
    }

    private init(_ bases: BaseDirectories) throws(AppGroupError) {
        let data = try bases.data().appending(Self.directoryName)
        containersPath = data.appending("Containers")
        vaultsPath = data.appending("Vaults")
        keysPath = try bases.configuration().appending(Self.directoryName).appending("Keys")
        watermarksPath = try bases.state().appending(Self.directoryName).appending("Watermarks")
    }

    private static let directoryName = "sealed-groups"
}

extension FilePath {
    fileprivate func madeAbsolute() -> FilePath {
        guard isRelative, let here = WorkingDirectory.path() else { return self }
        return here.pushing(self)
    }
}
