internal import ArgumentParser
internal import ContainerAudit

/// Findings that are known, and left out.
struct SuppressionOptions: ParsableArguments {
    /// The name that is looked for where none is given.
    static let usualName = ".sealauditignore"
    /// More findings than any container has: a baseline has to hold all of them.
    private static let everything = 1 << 30

    @Option(
        help: ArgumentHelp(
            "Leave out the findings in FILE; .sealauditignore in the audited and the current directory unless given; "
                + "can be repeated.", valueName: "FILE"), completion: .file())
    var ignoreFile: [String] = []

    @Option(
        help: ArgumentHelp("Report only what is new since FILE was written.", valueName: "FILE"), completion: .file())
    var baseline: String?

    @Option(
        help: ArgumentHelp("Write what is found now to FILE, for --baseline; ends with status 0.", valueName: "FILE"),
        completion: .file())
    var writeBaseline: String?

    @Option(
        help: ArgumentHelp(
            "The key of fingerprints; made in $XDG_CONFIG_HOME/sealedstate unless given.", valueName: "FILE"),
        completion: .file())
    var fingerprintKey: String?

    func validate() throws {
        if baseline != nil, writeBaseline != nil {
            throw ValidationError("--baseline leaves out what --write-baseline is to hold: give one of them.")
        }
    }

    /// - Parameter directory: What is audited.
    func apply(to options: inout AuditOptions, auditing directory: String, key: FingerprintKey?) throws(Failure) {
        options.fingerprintKey = key
        options.ignoring = try ignoreList(directory)
        if let baseline { options.baseline = try KnownFindings.baseline(baseline) }
        guard writeBaseline != nil else { return }
        options.limits.maximumFindings = Self.everything
        options.limits.maximumFindingsPerCheck = Self.everything
    }

    private func ignoreList(_ directory: String) throws(Failure) -> AuditIgnoreList {
        var list = AuditIgnoreList()
        for file in ignoreFile { list.add(try KnownFindings.ignoreList(file)) }
        guard ignoreFile.isEmpty else { return list }
        for place in [directory, "."] {
            let path = place + "/" + Self.usualName
            guard KnownFindings.isThere(path) else { continue }
            Talk.detail("ignore file \(path): read")
            list.add(try KnownFindings.ignoreList(path))
        }
        return list
    }
}
