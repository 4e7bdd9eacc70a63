internal import Glibc
internal import Synchronization

/// What holds for this run of sealctl: a flag goes before a variable of the environment, which goes before a file.
struct Settings: Sendable {
    private static let held = Mutex(Settings())
    private let values: [SettingName: SettingValue]
    /// The files that were read, and those that would have been.
    let files: [ConfigurationPath]

    private init() {
        values = [:]
        files = []
    }

    init(_ layers: [SettingLayer], files: [ConfigurationPath] = []) {
        values = SettingResolver(layers).values()
        self.files = files
    }

    /// Those of this run; none before `begin(with:)`.
    static var current: Settings { held.withLock { $0 } }

    subscript(_ name: SettingName) -> SettingValue? { values[name] }

    /// Whether a switch is on.
    func isOn(_ name: SettingName) -> Bool { values[name]?.text == "true" }

    /// Those that have a value, in their order, for people.
    var all: [(name: SettingName, value: SettingValue)] {
        SettingName.allCases.compactMap { name in values[name].map { (name, $0) } }
    }

    /// Takes what the command line, the environment and the configuration files say. Called once, before other threads.
    ///
    /// - Throws: `Failure` of status 78 for a variable or a file that makes no sense.
    static func begin(with flags: SettingLayer) throws(Failure) {
        // Talk is decided first: a file that is refused is told of as the flags want it.
        let environment = try SettingLayer.fromEnvironment()
        held.withLock { $0 = Settings([flags, environment]) }
        let files = try ConfigurationFile.readAll()
        let settings = Settings([flags, environment] + files.layers, files: files.paths)
        try settings.requireOneCredential()
        held.withLock { $0 = settings }
        settings.applyRoot()
        settings.tell()
    }

    /// The same for shell completion, which is silent about failures.
    static func beginQuietly() {
        guard current.values.isEmpty, let environment = try? SettingLayer.fromEnvironment() else { return }
        let layers = (try? ConfigurationFile.readAll())?.layers ?? []
        held.withLock { $0 = Settings([environment] + layers) }
        current.applyRoot()
    }

    /// The one way to open a vault that is set outside the command line: of the first source that has any.
    var credential: (name: SettingName, value: SettingValue)? {
        all.first { SettingName.credentials.contains($0.name) }
    }

    /// A source that has one hides those of the sources behind it; see `SettingResolver`.
    private func requireOneCredential() throws(Failure) {
        let stated = all.filter { SettingName.credentials.contains($0.name) }
        guard stated.count > 1 else { return }
        throw Failure(
            .configuration, "badSetting",
            "\(stated.map(\.value.origin).joined(separator: " and ")) are set: one opens the vault",
            hint: "Keep one of them.")
    }

    /// The library reads this variable; so do programs that `exec` starts.
    private func applyRoot() {
        guard let root = values[.root], root.origin != "$\(SettingName.root.variable)" else { return }
        setenv(SettingName.root.variable, root.text, 1)
    }

    private func tell() {
        for file in files { Talk.detail("configuration file \(file.path): \(file.wasRead ? "read" : "not there")") }
        for (name, value) in all where !name.isSwitch || value.text == "true" {
            Talk.detail("\(name.rawValue) is \(value.text) (\(value.origin))")
        }
    }
}

/// Whether text for people may have colours.
enum Appearance {
    /// `--no-color`, `NO_COLOR` and a dumb terminal say no; else colours are for terminals, unless the settings say always.
    ///
    /// - Parameter isTerminal: Whether the stream that gets the text is one.
    static func usesColor(onTerminal isTerminal: Bool) -> Bool {
        switch Settings.current[.color]?.text {
        case "never": false
        case "always": true
        default: isTerminal
        }
    }

    /// The same for standard output.
    static var outputUsesColor: Bool { usesColor(onTerminal: StandardStreams.outputIsTerminal) }
}
