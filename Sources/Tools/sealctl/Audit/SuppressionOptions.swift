internal import ArgumentParser
internal import ContainerAudit

/// The options for known findings, which are left out.
struct SuppressionOptions: ParsableArguments {
    /// The name of the ignore file that is searched for by default.
    static let usualName = ".sealauditignore"
    /// The limit on findings for a baseline, which must contain all of them.
    private static let everything = 1 << 30

    @Option(
        help: ArgumentHelp(
            "Omit the findings in FILE; .sealauditignore in the audited and the current directory unless given; "
                + "can be repeated.", valueName: "FILE"), completion: .file())
    var ignoreFile: [String] = []

    @Option(
        help: ArgumentHelp("Report only findings that are not in FILE.", valueName: "FILE"), completion: .file())
    var baseline: String?

    @Option(
        help: ArgumentHelp(
            "Write the present findings to FILE, for --baseline; ends with status 0.", valueName: "FILE"),
        completion: .file())
    var writeBaseline: String?

    @Option(
        help: ArgumentHelp(
            "Add the listed findings to FILE, for --ignore-file, where you add the reasons; ends with status 0.",
            valueName: "FILE"), completion: .file())
    var writeIgnore: String?

    @Option(
        help: ArgumentHelp(
            "The key of fingerprints; created in $XDG_CONFIG_HOME/sealedstate unless given.", valueName: "FILE"),
        completion: .file())
    var fingerprintKey: String?

    /// True if the run writes a list of known findings.
    var writesAnything: Bool { writeBaseline != nil || writeIgnore != nil }

    func validate() throws {
        if baseline != nil, writeBaseline != nil {
            throw ValidationError("--baseline omits the findings that --write-baseline records: give one of them.")
        }
    }

    /// - Parameter directory: The audited directory.
    func apply(to options: inout AuditOptions, auditing directory: String, key: FingerprintKey?) throws(Failure) {
        options.fingerprintKey = key
        for file in ignoreFile { options.ignoring.add(try KnownFindings.ignoreList(file)) }
        let places = usualPlaces(directory)
        for place in places {
            options.ignoring.add(try KnownFindings.usualIgnoreList(in: place, name: Self.usualName))
        }
        let files = ignoreFile + places.map { $0 + "/" + Self.usualName }
        if let baseline { options.baseline = try KnownFindings.baseline(baseline) }
        options.ownFiles = ownFiles(files)
        guard writeBaseline != nil else { return }
        options.limits.maximumFindings = Self.everything
        options.limits.maximumFindingsPerCheck = Self.everything
    }

    /// Returns the directories with an ignore file, if no ignore file was stated.
    private func usualPlaces(_ directory: String) -> [String] {
        guard ignoreFile.isEmpty else { return [] }
        let places = [directory, "."].filter { KnownFindings.isThere($0 + "/" + Self.usualName) }
        for place in places { ConsoleMessages.detail("ignore file \(place)/\(Self.usualName): read") }
        return places
    }

    private func ownFiles(_ ignoreFiles: [String]) -> [AuditOwnFile] {
        // A list that is written again keeps its entries.
        let lists = (ignoreFiles + [writeIgnore].compactMap(\.self)).compactMap {
            AuditOwnFile(path: $0, use: .ignoreList)
        }
        let baselines = [baseline, writeBaseline].compactMap(\.self).compactMap {
            AuditOwnFile(path: $0, use: .baseline)
        }
        return lists + baselines
    }
}
