internal import SharedFiles

/// Gathers findings: the same one in several configurations is one finding that names them.
struct FindingCollector {
    /// Paths in findings are below it.
    let root: String
    private var order: [Key] = []
    private var findings: [Key: Gathered] = [:]
    /// How many configurations each target has.
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
        /// What the finding lists; each configuration may add its own.
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
    ///   - severity: The rule's own unless it is given.
    ///   - program: Whose mistake it is; its file is the place unless another is given.
    ///   - remedy: The rule's own unless it is given.
    mutating func add(
        _ rule: ProjectRule, _ severity: FindingSeverity? = nil, of program: SignedProgram? = nil,
        path: String? = nil, line: Int? = nil, subject: String = "", _ detail: String, remedy: String? = nil
    ) {
        add(
            rule, severity, of: program, path: path, line: line, items: [], subject: subject, remedy: remedy
        ) { _ in detail }
    }

    /// A finding on a list of identifiers: it is the same one in another configuration with other identifiers.
    ///
    /// - Parameter sentence: What was found, given the list in words.
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

    /// The gravest first, then by place and rule.
    var sorted: [ProjectFinding] {
        order.compactMap { findings[$0].map(finished) }.sorted { first, second in
            if first.severity != second.severity { return first.severity > second.severity }
            return Self.place(first).lexicographicallyPrecedes(Self.place(second))
        }
    }

    private static func place(_ finding: ProjectFinding) -> [String] {
        [finding.path, finding.rule.id, finding.target ?? "", finding.subject, finding.detail]
    }

    /// The configurations are named only where there are others without the finding.
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

/// Identifiers in a sentence.
enum IdentifierList {
    private static let most = 3

    /// `a, b, c and 5 more`.
    static func words(_ identifiers: [String]) -> String {
        guard identifiers.count > most + 1 else { return identifiers.joined(separator: ", ") }
        return identifiers.prefix(most).joined(separator: ", ") + " and \(identifiers.count - most) more"
    }
}
