internal import AppGroups
internal import SharedFiles

/// Checks each identifier of a program separately.
struct IdentifierCheck {
    let program: SignedProgram
    let definedSettings: Set<String>

    func run(_ findings: inout FindingCollector) {
        for group in program.groups { checkGroup(group, &findings) }
        for group in program.accessGroups { checkAccessGroup(group, &findings) }
        for identifier in program.groups + program.accessGroups + [program.keyValueStore].compactMap({ $0 }) {
            checkSettings(of: identifier, &findings)
        }
        checkLists(&findings)
    }

    private func checkGroup(_ group: HeldIdentifier, _ findings: inout FindingCollector) {
        guard group.isExpanded else { return }
        do throws(AppGroupError) {
            let valid = try AppGroup(group.text)
            if valid.form == .teamPrefixed { checkTeamForm(group, &findings) }
        } catch {
            findings.add(
                .malformedGroup, of: program, line: group.line, subject: group.text,
                "\(program.name): the app group \"\(error.subject)\" is refused: \(error.reason.clause).\(group.emptiness)",
                remedy: error.advice)
        }
    }

    private func checkTeamForm(_ group: HeldIdentifier, _ findings: inout FindingCollector) {
        if let platform = program.platform, !platform.isMac {
            findings.add(
                .unregisteredForm, of: program, line: group.line, subject: group.text,
                "\(program.name): \(group.text) begins with a team identifier, and \(platform.rawValue) has only group.<name>."
            )
        }
        checkTeam(of: group, &findings)
    }

    /// Apple's group for keys on smart cards, which every profile allows.
    static let tokens = "com.apple.token"

    private func checkAccessGroup(_ group: HeldIdentifier, _ findings: inout FindingCollector) {
        guard group.isExpanded, group.text != Self.tokens else { return }
        if group.text.hasSuffix("*") {
            findings.add(
                .wildcard, of: program, line: group.line, subject: group.text,
                "\(program.name): the keychain access group \(group.text) is a pattern, not a name.")
            return
        }
        guard hasTeam(group.text) else {
            findings.add(
                .accessGroupWithoutTeam, of: program, line: group.line, subject: group.text, teamless(group.text))
            return
        }
        checkTeam(of: group, &findings)
        do throws(AppGroupError) { _ = try AccessGroup(group.text) } catch {
            findings.add(
                .malformedAccessGroup, of: program, line: group.line, subject: group.text,
                "\(program.name): the keychain access group \"\(error.subject)\": \(error.reason.clause).\(group.emptiness)",
                remedy: error.advice)
        }
    }

    private func teamless(_ text: String) -> String {
        let start = "\(program.name): the keychain access group \(text) does not begin with a team identifier"
        return text.hasPrefix("group.")
            ? start + "; an app group is an access group without being listed here."
            : start + "."
    }

    private func hasTeam(_ text: String) -> Bool {
        (try? TeamIdentifier(String(text.prefix { $0 != "." }))) != nil && text.contains(".")
    }

    private func checkTeam(of identifier: HeldIdentifier, _ findings: inout FindingCollector) {
        let written = String(identifier.text.prefix(TeamIdentifier.length))
        guard let team = program.team, written != BuildSettings.unknownTeam, written != team,
            identifier.raw.hasPrefix(written)
        else { return }
        findings.add(
            .otherTeam, of: program, line: identifier.line, subject: identifier.text,
            "\(program.name) is signed for team \(team), and \(identifier.text) begins with \(written).")
    }

    private func checkSettings(of identifier: HeldIdentifier, _ findings: inout FindingCollector) {
        for name in identifier.undefined {
            let isElsewhere = definedSettings.contains(name)
            let nearest = isElsewhere ? nil : NearestName.nearest(to: name, among: definedSettings.sorted())
            let isCertain = program.project != nil && (!program.hasAbsentSettings || nearest != nil) && !isElsewhere
            let guess = nearest.map { " Did you mean \($0)?" } ?? ""
            let start = "\(program.name): the build setting \(name) has no value here. It is used in "
            findings.add(
                .undefinedSetting, isCertain ? .warning : .note, of: program, line: identifier.line,
                items: [identifier.raw], subject: name,
                remedy: program.project == nil ? "Check the project that gives it a value." : nil
            ) { "\(start)\($0).\(guess)" }
        }
    }

    private func checkLists(_ findings: inout FindingCollector) {
        let lists = [
            ("app groups", program.document?.applicationGroups, program.groups),
            ("keychain access groups", program.document?.keychainAccessGroups, program.accessGroups),
        ]
        for (words, list, held) in lists where list != nil {
            if held.isEmpty {
                findings.add(.emptyList, of: program, subject: words, "\(program.name): its list of \(words) is empty.")
            }
            checkNames(held, words, &findings)
        }
    }

    private func checkNames(_ held: [HeldIdentifier], _ words: String, _ findings: inout FindingCollector) {
        var spellings: [String: Set<String>] = [:]
        for identifier in held {
            let folded = identifier.text.lowercased()
            if spellings[folded]?.contains(identifier.text) == true {
                findings.add(
                    .duplicate, of: program, line: identifier.line, subject: identifier.text,
                    "\(program.name): \(identifier.text) is listed more than once among its \(words).")
            } else if let other = spellings[folded]?.min() {
                findings.add(
                    .namesAlmostEqual, .warning, of: program, line: identifier.line, subject: identifier.text,
                    "\(program.name) has \(other) and \(identifier.text) among its \(words): they differ in case.")
            }
            spellings[folded, default: []].insert(identifier.text)
        }
    }
}

extension HeldIdentifier {
    /// The reason for a missing part, as a sentence after a space; usually empty.
    fileprivate var emptiness: String {
        emptied.isEmpty ? "" : " In \(raw), \(emptied.joined(separator: ", ")) has no value here."
    }
}
