/// Compares programs that the system treats as one: the configurations of a target, and targets with the same bundle
/// identifier, which are usually one app on two platforms.
struct VariantCheck {
    let programs: [SignedProgram]

    /// The limit on distinct sets of names. Further sets show no new similarities.
    private static let mostSets = 16

    func run(_ findings: inout FindingCollector) {
        let known = programs.filter(\.isReadable)
        // Targets with one identifier in all configurations are handled with `identifiers` below.
        let targets = Dictionary(grouping: known, by: \.id).values.filter {
            Set($0.map(\.bundleIdentifier)) != [$0[0].bundleIdentifier] || $0[0].bundleIdentifier == nil
        }
        let identifiers = Dictionary(grouping: known.filter { $0.bundleIdentifier != nil }, by: \.bundleIdentifier)
            .values
        for twins in Array(targets) + Array(identifiers) {
            checkNames(twins, "app group", \.groups, &findings)
            checkNames(twins, "keychain access group", \.accessGroups, &findings)
        }
        for twins in identifiers { checkStores(twins, &findings) }
    }

    private func checkNames(
        _ twins: [SignedProgram], _ words: String, _ held: (SignedProgram) -> [HeldIdentifier],
        _ findings: inout FindingCollector
    ) {
        let sets = Self.distinct(twins, held)
        for (index, second) in sets.enumerated() {
            for first in sets[..<index] {
                for pair in SimilarNames(held(first), held(second)).pairs {
                    findings.add(
                        .namesAlmostEqual, .warning, of: second, line: pair.second.line, subject: pair.second.text,
                        "\(Self.name(second)) has the \(words) \(pair.second.text), and \(Self.name(first)) has \(pair.first.text): \(pair.difference)."
                    )
                }
            }
        }
    }

    private static func name(_ program: SignedProgram) -> String {
        program.configuration.map { "\(program.name) in \($0)" } ?? program.name
    }

    /// Returns the first program for each distinct set of names, in a stable order.
    private static func distinct(
        _ twins: [SignedProgram], _ held: (SignedProgram) -> [HeldIdentifier]
    ) -> [SignedProgram] {
        var seen: Set<Set<String>> = []
        let others = twins.filter { seen.insert(Set(held($0).map(\.text))).inserted }
        return Array(others.prefix(mostSets))
    }

    /// Checks for different key-value stores. An app on two platforms with one identifier has one store in iCloud.
    private func checkStores(_ twins: [SignedProgram], _ findings: inout FindingCollector) {
        var first: [String: SignedProgram] = [:]
        for program in twins where program.project != nil && program.keyValueStore != nil {
            let configuration = program.configuration ?? ""
            guard let known = first[configuration] else {
                first[configuration] = program
                continue
            }
            guard let own = program.keyValueStore, let other = known.keyValueStore, own.text != other.text,
                program.id != known.id || program.platform != known.platform
            else { continue }
            findings.add(
                .keyValueStoresDiffer, of: program, line: own.line, subject: own.text,
                "\(program.name) has the key-value store \(own.text), and \(known.name) with the same bundle identifier has \(other.text)."
            )
        }
    }
}
