internal import AppGroups

/// Compares an app with its parts.
struct FamilyCheck {
    let family: AppFamily

    private var app: SignedProgram { family.app }

    func run(_ findings: inout FindingCollector) {
        for part in family.parts {
            let alike = SimilarNames(app.groups, part.groups)
            report(alike, of: part, "app group", &findings)
            report(SimilarNames(app.accessGroups, part.accessGroups), of: part, "keychain access group", &findings)
            checkGroups(part, alike, &findings)
            checkAccessGroups(part, &findings)
            checkTeam(part, &findings)
        }
        checkStores(&findings)
        checkSandbox(&findings)
    }

    private func report(
        _ alike: SimilarNames, of part: SignedProgram, _ words: String, _ findings: inout FindingCollector
    ) {
        for pair in alike.pairs {
            findings.add(
                .namesAlmostEqual, of: part, line: pair.second.line, subject: pair.second.text,
                "\(part.name) has the \(words) \(pair.second.text), and \(app.name) has \(pair.first.text): \(pair.difference)."
            )
        }
    }

    private func checkGroups(_ part: SignedProgram, _ alike: SimilarNames, _ findings: inout FindingCollector) {
        // An unreadable file may contain any group.
        guard app.isReadable, part.isReadable else { return }
        let shared = Set(app.groupTexts).intersection(part.groupTexts)
        let severity: FindingSeverity? = shared.isEmpty && alike.pairs.isEmpty ? nil : .note
        let (app, kind) = (app, part.kind.rawValue)
        let missing = app.groups.filter { !shared.contains($0.text) && !alike.holds($0) }
        if !missing.isEmpty, part.kind.sharesWithItsApp {
            let rest = "and its \(kind) \(part.name) \(Self.holds(part))."
            findings.add(.groupNotOnExtension, severity, of: part, items: Self.texts(missing)) {
                "\(app.name) holds \($0), \(rest)"
            }
        }
        let extra = part.groups.filter { !shared.contains($0.text) && !alike.holds($0) }
        if !extra.isEmpty {
            let rest = "and \(app.name) \(Self.holds(app))."
            findings.add(.groupNotOnApp, severity, of: part, line: extra.first?.line, items: Self.texts(extra)) {
                "The \(kind) \(part.name) holds \($0), \(rest)"
            }
        }
    }

    private func checkAccessGroups(_ part: SignedProgram, _ findings: inout FindingCollector) {
        let missing = app.accessGroups(notIn: part)
        guard !missing.isEmpty else { return }
        let (app, kind) = (app, part.kind.rawValue)
        findings.add(.accessGroupNotOnExtension, of: part, items: Self.texts(missing)) {
            "\(app.name) holds the keychain access group \($0), and its \(kind) \(part.name) does not."
        }
    }

    private static func texts(_ identifiers: [HeldIdentifier]) -> [String] { Set(identifiers.map(\.text)).sorted() }

    private static func holds(_ program: SignedProgram) -> String {
        if case .none = program.entitlements { return "has no entitlements" }
        return program.groups.isEmpty
            ? "has no app group" : "holds \(IdentifierList.words(texts(program.groups)))"
    }

    private func checkTeam(_ part: SignedProgram, _ findings: inout FindingCollector) {
        guard let own = part.team, let team = app.team, own != team else { return }
        findings.add(
            .teamsDiffer, of: part, path: part.place, subject: own,
            "\(part.name) is signed for team \(own), and \(app.name) for \(team).")
    }

    private func checkStores(_ findings: inout FindingCollector) {
        let holders = family.members.filter { $0.keyValueStore != nil }
        guard let first = holders.first, let store = first.keyValueStore else { return }
        for other in holders.dropFirst() {
            guard let own = other.keyValueStore, own.text != store.text else { continue }
            findings.add(
                .keyValueStoresDiffer, of: other, line: own.line, subject: own.text,
                "\(other.name) has the key-value store \(own.text), and \(first.name) has \(store.text).")
        }
    }

    private func checkSandbox(_ findings: inout FindingCollector) {
        guard app.platform?.isMac == true, app.isSandboxed == true, app.groups.isEmpty else { return }
        for part in family.sharing where part.isSandboxed == true && part.groups.isEmpty {
            findings.add(
                .sandboxWithoutGroup, of: part, subject: app.name,
                "\(app.name) and its \(part.kind.rawValue) \(part.name) are sandboxed, and neither is in an app group.")
        }
    }
}

extension SignedProgram {
    /// True if its entitlements are known.
    var isReadable: Bool {
        switch entitlements {
        case .found, .none: true
        case .missing, .refused: false
        }
    }

    /// Returns the keychain access groups that a part lacks and could share. Excludes an app's own identifier, which is
    /// meant for the app alone, and groups with similar names, which are another rule's finding.
    func accessGroups(notIn part: SignedProgram) -> [HeldIdentifier] {
        guard isReadable, part.isReadable, part.kind.sharesWithItsApp else { return [] }
        let alike = SimilarNames(accessGroups, part.accessGroups)
        let held = Set(part.accessGroups.map(\.text))
        return accessGroups.filter { group in
            let name = group.text.drop { $0 != "." }.dropFirst()
            let isOwn = bundleIdentifier.map { name == $0 } ?? false
            return !isOwn && !held.contains(group.text) && !alike.holds(group) && group.text != IdentifierCheck.tokens
        }
    }
}
