internal import SharedFiles

/// A collector of findings. The same finding in several configurations becomes one finding that names them.
struct FindingCollector {
    /// The directory that paths in findings are relative to.
    let root: String
    private var order: [Key] = []
    private var findings: [Key: Gathered] = [:]
    /// The number of configurations of each target.
    private let configurations: [ProgramID: Int]

    private struct Key: Hashable {
        let rule: String
        let program: ProgramID?
        let path: String
        let subject: String
        let detail: String
    }

    private struct Gathered {
        let finding: ProjectFinding
        let program: ProgramID?
        var configurations: [String] = []
        /// The items that the finding lists, collected from all configurations.
        var items: [String]
        let sentence: (String) -> String
    }

    init(root: String, programs: [SignedProgram]) {
        self.root = root
        let named = programs.reduce(into: [ProgramID: Set<String>]()) { names, program in
            if let name = program.configuration { names[program.id, default: []].insert(name) }
        }
        configurations = named.mapValues(\.count)
    }

    /// - Parameters:
    ///   - severity: The finding's severity; by default the rule's.
    ///   - program: The program with the mistake. Its file is the finding's place unless `path` is given.
    ///   - remedy: The finding's remedy; by default the rule's.
    mutating func add(
        _ rule: ProjectRule, _ severity: FindingSeverity? = nil, of program: SignedProgram? = nil,
        path: String? = nil, line: Int? = nil, subject: String = "", _ detail: String, remedy: String? = nil
    ) {
        add(
            rule, severity, of: program, path: path, line: line, items: [], subject: subject, remedy: remedy
        ) { _ in detail }
    }

    /// Adds a finding on a list of identifiers. In another configuration with other identifiers it is the same finding.
    ///
    /// - Parameter sentence: Returns the finding as a sentence for the list in words.
    mutating func add(
        _ rule: ProjectRule, _ severity: FindingSeverity? = nil, of program: SignedProgram? = nil,
        path: String? = nil, line: Int? = nil, items: [String], subject: String = "", remedy: String? = nil,
        _ sentence: @escaping (String) -> String
    ) {
        let place = ProjectPath.relative(path ?? program?.path ?? root, to: root)
        let key = Key(rule: rule.id, program: program?.id, path: place, subject: subject, detail: sentence(""))
        if findings[key] == nil {
            order.append(key)
            let finding = ProjectFinding(
                rule: rule, severity: severity ?? rule.severity, target: program?.name, configurations: [],
                path: place, line: line, subject: subject, detail: "", remedy: remedy ?? rule.remedy)
            findings[key] = Gathered(finding: finding, program: program?.id, items: [], sentence: sentence)
        }
        for item in items where findings[key]?.items.contains(item) == false { findings[key]?.items.append(item) }
        if let name = program?.configuration, findings[key]?.configurations.contains(name) == false {
            findings[key]?.configurations.append(name)
        }
    }

    /// The findings, most severe first, then by place and rule.
    var sorted: [ProjectFinding] {
        order.compactMap { findings[$0].map(finished) }.sorted { first, second in
            if first.severity != second.severity { return first.severity > second.severity }
            return Self.place(first).lexicographicallyPrecedes(Self.place(second))
        }
    }

    private static func place(_ finding: ProjectFinding) -> [String] {
        [finding.path, finding.rule.id, finding.target ?? "", finding.subject, finding.detail]
    }

    /// Finishes a finding. Configurations are named only if others do not have the finding.
    private func finished(_ gathered: Gathered) -> ProjectFinding {
        let finding = gathered.finding
        let all = gathered.program.flatMap { configurations[$0] } ?? 0
        let subject = finding.subject.isEmpty ? gathered.items.joined(separator: ", ") : finding.subject
        return ProjectFinding(
            rule: finding.rule, severity: finding.severity, target: finding.target,
            configurations: gathered.configurations.count == all ? [] : gathered.configurations.sorted(),
            path: finding.path, line: finding.line, subject: HeldIdentifier.shown(subject),
            detail: HeldIdentifier.shown(gathered.sentence(IdentifierList.words(gathered.items))),
            remedy: HeldIdentifier.shown(finding.remedy))
    }
}

/// The formatting of identifiers in a sentence.
enum IdentifierList {
    private static let most = 3

    /// Returns the list in the form `a, b, c and 5 more`.
    static func words(_ identifiers: [String]) -> String {
        guard identifiers.count > most + 1 else { return identifiers.joined(separator: ", ") }
        return identifiers.prefix(most).joined(separator: ", ") + " and \(identifiers.count - most) more"
    }
}
