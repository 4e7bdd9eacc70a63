internal import SystemPackage

/// The user's base directories by the XDG base directory specification 0.8: each from its own variable, else below
/// the home directory.
struct BaseDirectories {
    private let environment: [String: String]
    private let home: FilePath?

    /// Asks the user database once, and only where `HOME` is needed and does not help: a lookup may go to a server.
    init(environment: [String: String], accountHome: () -> String?) {
        self.environment = environment
        let isHomeNeeded = [HomeEnvironment.data, HomeEnvironment.configuration, HomeEnvironment.state]
            .contains { Self.absolutePath(environment[$0]) == nil }
        home =
            isHomeNeeded
            ? Self.absolutePath(environment[HomeEnvironment.home]) ?? Self.absolutePath(accountHome())
            : nil
    }

    /// The directories of the user that this process writes files as. A variable that names a directory of another user is left
    /// out: `sudo` and `setpriv` keep the caller's `HOME`.
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

    /// The specification has relative values ignored; an empty one is relative.
    private static func absolutePath(_ text: String?) -> FilePath? {
        guard let text else { return nil }
        let path = FilePath(text)
        return path.isAbsolute ? path : nil
    }
}
