internal import FoundationEssentials
internal import Glibc

/// Attacks by a user who may write to the container and has no key.
extension Demo {
    func runFlippedByte() throws(Stop) {
        step("A byte of the blob is flipped")
        let good = try record.bytes()
        let (bad, offset) = try RecordFile.flipped(good)
        attack("flips one bit of byte \(offset) of \(good.count)")
        try record.replace(with: bad)
        try expectRefusal(
            "tampered", as: "blob.tampered", "the widget refuses it as tampered, and shows none of its contents")
        let start = running.transcript.count
        attack("restores the original blob")
        try record.replace(with: good)
        try running.listen { outputLines(by: .widget, since: start).contains { $0.state == "signed-in" } }
        check(
            "the widget accepts the original blob again",
            outputLines(by: .widget, since: start).contains { $0.state == "signed-in" })
        try pause()
    }

    func runReplay(of old: Data) throws(Stop) {
        step("An old blob is put back")
        attack("puts back the authentic blob of the first sign-in")
        try record.replace(with: old)
        try expectRefusal(
            "replayed", as: "blob.replayed", "the widget has accepted newer ones, and refuses it as replayed")
        try pause()
    }

    func runPlaintext() throws(Stop) {
        step("A plaintext file replaces the record")
        attack(#"writes {"isAuthenticated": true, "displayName": "Mallory", …}"#)
        let forged = #"{"isAuthenticated": true, "displayName": "Mallory", "tokenExpiresAt": "2099-01-01T00:00:00Z"}"#
        try record.replace(with: Data(forged.utf8))
        try expectRefusal("malformed", as: "blob.not-sealed", "the widget refuses a file that was never sealed")
        try pause()
    }

    func runRecovery() throws(Stop) {
        step("The app writes again")
        let answer = try signInForLong()
        try expectWidget("the widget shows it") { $0.shows(answer.person) }
        let audit = try audit()
        for finding in audit.findings { running.add(finding.outputLine) }
        check(
            "the audit finds the refused file in quarantine, and nothing wrong elsewhere",
            audit.outsideQuarantine.isEmpty && audit.findings.contains { $0.id == "quarantine.present" },
            instead: Self.list(audit.findings))
        try pause()
    }

    func runMove() throws(Stop) {
        step("The whole container is moved away and back")
        attack("moves the container away")
        try home.moveContainer(away: true)
        try expectWidget("the widget shows its placeholder and continues to watch") { $0.state == "placeholder" }
        let start = running.transcript.count
        attack("moves it back")
        try home.moveContainer(away: false)
        try running.listen { outputLines(by: .widget, since: start).contains { $0.state == "signed-in" } }
        check(
            "the widget shows the user again",
            outputLines(by: .widget, since: start).contains { $0.state == "signed-in" })
        try pause()
    }

    func runInspection() throws(Stop) {
        step("The container is inspected and audited")
        try show(["inspect", "--group", DemoHome.group, RecordFile.name], endingWith: 0, "the record is valid")
        let isClean = try audit().isClean
        try show(
            ["audit", "--group", DemoHome.group], endingWith: isClean ? 0 : 1,
            isClean ? "no finding needs a change" : "the quarantine has a copy to examine")
    }

    func attack(_ action: String) { running.add(OutputLine(.intruder, withText: action)) }

    /// Every name that was shown or forged.
    private var people: Set<Substring> {
        Set(running.transcript.filter { $0.state == "signed-in" }.map(\.person)).union(["Mallory"])
    }

    func expectRefusal(_ code: String, as id: String, _ expected: String) throws(Stop) {
        try expectWidget(expected) { $0.state == "refused" && $0.detail == code && !$0.names(anyOf: people) }
        let findings = try audit().ofRecord
        for finding in findings { running.add(finding.outputLine) }
        check("the audit reports it as \(id)", findings.contains { $0.id == id }, instead: Self.list(findings))
    }

    private func audit() throws(Stop) -> Audit {
        try Audit(
            json: running.run(programs.sealctl, ["audit", "--json", "--group", DemoHome.group], capturesOutput: true)
                .output)
    }

    private func show(_ arguments: [String], endingWith expected: Int32, _ meaning: String) throws(Stop) {
        timeline.command(["sealctl"] + arguments)
        let status = try running.run(programs.sealctl, arguments, capturesOutput: false).status
        check("its exit status is \(expected): \(meaning)", status == expected, instead: "it is \(status)")
    }

    private static func list(_ findings: [Audit.Finding]) -> String {
        findings.isEmpty ? "it finds nothing" : "it finds " + findings.map(\.id).joined(separator: ", ")
    }
}

extension OutputLine {
    fileprivate func names(anyOf people: Set<Substring>) -> Bool { people.contains { text.contains($0) } }
}

/// The part of the `sealctl audit --json` report that the demo uses.
struct Audit: Decodable {
    struct Finding: Decodable {
        let id: String
        let severity: String
        let path: String
        let title: String

        /// The finding as the timeline shows it.
        var outputLine: OutputLine {
            OutputLine(.audit, "named", detail: id, text: "\(title.lowercasingFirst) (\(severity)): \(shortPath)")
        }

        /// The file and its directory.
        private var shortPath: String { path.split(separator: "/").suffix(2).joined(separator: "/") }
    }

    let findings: [Finding]
    /// `true` if nothing has to be fixed; `sealctl audit` then ends with 0, else with 1.
    let isClean: Bool

    /// - Throws: `Stop` `.broken` if the text is not a report of sealctl.
    init(json: [String]) throws(Stop) {
        do {
            self = try JSONDecoder().decode(Audit.self, from: Data(json.joined(separator: "\n").utf8))
        } catch {
            throw .broken("sealctl audit --json printed no report")
        }
    }

    /// The findings about the shared record.
    var ofRecord: [Finding] { findings.filter { $0.path == RecordFile.place } }

    /// The findings outside the copies of rejected files.
    var outsideQuarantine: [Finding] { findings.filter { !$0.path.hasPrefix("Quarantine/") } }
}

extension String {
    fileprivate var lowercasingFirst: String { prefix(1).lowercased() + dropFirst() }
}

/// The shared record's file, accessed by a user who may write there and has no key.
struct RecordFile {
    static let name = "widget_auth_state"
    /// The path below the container, as in the audit.
    static let place = "Library/Application Support/Records/\(name).sealed"

    /// The size of a blob's header in bytes; the sealed contents follow it.
    private static let headerSize = 176

    private let path: String
    private let draft: String

    init(home: DemoHome) {
        path = "\(home.container)/\(Self.place)"
        draft = "\(home.path)/draft"
    }

    func bytes() throws(Stop) -> Data {
        do { return try Data(contentsOf: URL(filePath: path)) } catch { throw .broken("\(path) cannot be read") }
    }

    /// Replaces the record's bytes, as a whole, by a rename, so that the widget rejects the content and not a partial
    /// file.
    func replace(with bytes: Data) throws(Stop) {
        do { try bytes.write(to: URL(filePath: draft)) } catch { throw .broken("\(draft) cannot be written") }
        // With the same mode, so that only the contents are wrong.
        chmod(draft, 0o600)
        guard rename(draft, path) == 0 else { throw .broken("\(path) cannot be replaced") }
    }

    /// Returns the blob with the lowest bit of one byte of its contents flipped, and that byte's offset.
    static func flipped(_ blob: Data) throws(Stop) -> (blob: Data, offset: Int) {
        let offset = headerSize + 8
        guard blob.count > offset else { throw .broken("the blob has \(blob.count) bytes only") }
        var blob = blob
        blob[offset] ^= 1
        return (blob, offset)
    }
}
