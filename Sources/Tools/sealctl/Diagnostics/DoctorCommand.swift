internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import Glibc
internal import SharedFiles

/// `sealctl doctor`: checks the setup.
struct DoctorCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check that everything is set up, and show how to correct what is not.",
        discussion: """
            Checks the library, the kernel, the settings and the file system; with a group also its container and its \
            vault. The command changes nothing and asks for nothing. Each line is ok, warn (works with a limitation) \
            or fail, followed by the remedy. Exit status 1 means that a check fails.

            Examples:
              sealctl doctor
              sealctl doctor --group group.com.example.app
              sealctl doctor --json | jq '.checks[] | select(.state != "ok")'
            """)

    @OptionGroup var groupOptions: GroupOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    /// Does nothing, because a faulty setting is one of the findings and must not prevent the others.
    func prepare() throws(Failure) {}

    func perform() throws(Failure) {
        var lines: [Diagnosis] = [SettingsCheck.examine(statedSettings)]
        lines += LibraryChecks.examine() + SystemChecks.examine() + EditCheck.examine()
        do throws(Failure) {
            let home = try GroupOptions.home()
            lines += PlaceChecks.examine(home)
            lines += group(in: home)
        } catch { lines.append(.fail("home", error)) }
        let report = DiagnosisReport(lines: lines)
        try StandardStreams.print(output.json ? report.json.text : report.text)
        guard report.isSound else {
            throw Failure(.findings, "unsound", "something fails", hint: "", isSilent: true)
        }
    }

    private func group(in home: GroupsHome) -> [Diagnosis] {
        guard groupOptions.identifier != nil else {
            return [.ok("group", "none was named: no container and no vault was checked")]
        }
        do throws(Failure) { return GroupChecks.examine(try groupOptions.appGroup(), in: home) } catch {
            return [.fail("group", error)]
        }
    }
}

/// A line of the output of `doctor`.
struct Diagnosis {
    enum State: String {
        /// Everything is in order.
        case ok
        /// The function works with limitations.
        case warn
        /// A function does not work.
        case fail
    }

    /// A stable identifier, for programs.
    let id: String
    let state: State
    /// The observation, without an end mark.
    let detail: String
    /// The advice; empty if nothing needs fixing.
    let remedy: String

    static func ok(_ id: String, _ detail: String) -> Diagnosis {
        Diagnosis(id: id, state: .ok, detail: detail, remedy: "")
    }

    static func warn(_ id: String, _ detail: String, remedy: String) -> Diagnosis {
        Diagnosis(id: id, state: .warn, detail: detail, remedy: remedy)
    }

    static func fail(_ id: String, _ detail: String, remedy: String) -> Diagnosis {
        Diagnosis(id: id, state: .fail, detail: detail, remedy: remedy)
    }

    /// Returns a line for a failure that any other command would report.
    static func fail(_ id: String, _ failure: Failure) -> Diagnosis {
        .fail(id, failure.message, remedy: failure.hint)
    }

    var json: JSONText {
        .object([
            ("check", .string(id)), ("state", .string(state.rawValue)), ("detail", .string(detail)),
            ("mend", .string(remedy)),  // words: a key of the published JSON
        ])
    }
}

/// All lines of a diagnosis.
struct DiagnosisReport {
    let lines: [Diagnosis]

    /// True if everything works, with or without warnings.
    var isSound: Bool { !lines.contains { $0.state == .fail } }

    /// The lines, with the advice below each line that has one.
    var text: String {
        let width = lines.map(\.id.count).max() ?? 0
        return lines.map { line in
            let state = line.state.rawValue + String(repeating: " ", count: 4 - line.state.rawValue.count)
            let name = line.id + String(repeating: " ", count: width - line.id.count)
            let head = "\(painted(state, line.state))  \(name)  \(line.detail.printable)"
            let indent = String(repeating: " ", count: width + 8)
            return line.remedy.isEmpty ? head : "\(head)\n\(indent)\(line.remedy.printable)"
        }.joined(separator: "\n")
    }

    private func painted(_ text: String, _ state: Diagnosis.State) -> String {
        guard Appearance.outputUsesColor else { return text }
        let color =
            switch state {
            case .ok: "32"
            case .warn: "33"
            case .fail: "31"
            }
        return "\u{1B}[\(color)m\(text)\u{1B}[0m"
    }

    var json: JSONText {
        .object([("isSound", .bool(isSound)), ("checks", .array(lines.map(\.json)))])
    }
}

/// Variables and configuration files.
enum SettingsCheck {
    /// Checks the settings, and loads them for the other checks.
    static func examine(_ stated: SettingLayer) -> Diagnosis {
        do throws(Failure) { try Settings.begin(with: stated) } catch { return .fail("settings", error) }
        let settings = Settings.current
        let files = settings.files.filter(\.wasRead).map(\.path)
        let values = settings.all.filter { $0.value.text != "false" }.map { "\($0.name.rawValue) (\($0.value.origin))" }
        let from = files.isEmpty ? "no configuration file" : files.joined(separator: ", ")
        return .ok("settings", values.isEmpty ? from : "\(from); \(values.joined(separator: ", "))")
    }
}

/// Plaintext of edits that met a conflict. It is kept for the person, who may have forgotten it.
enum EditCheck {
    static func examine() -> [Diagnosis] {
        MemoryPlace.bases.flatMap { base in
            ((try? base.entries()) ?? []).compactMap { entry in
                guard entry.name.hasPrefix(MemoryPlace.keptPrefix), let facts = try? base.attributes(entry.name),
                    facts.kind == .directory, facts.uid == geteuid()
                else { return nil }
                return kept(base.display(entry.name), facts)
            }
        }
    }

    private static func kept(_ path: String, _ facts: FileAttributes) -> Diagnosis {
        let age = Int64(Timestamp.now.milliseconds) / 1000 - facts.modifiedNanoseconds / 1_000_000_000
        return .warn(
            "kept-edit", "\(path) holds the plaintext of an edit that was not sealed, for \(text(age))",
            remedy: "Copy what you need of it, then remove it: rm -r \(path.shellQuoted)")
    }

    private static func text(_ seconds: Int64) -> String {
        switch seconds {
        case ..<120: "\(max(0, seconds)) seconds"
        case ..<7200: "\(seconds / 60) minutes"
        case ..<172_800: "\(seconds / 3600) hours"
        default: "\(seconds / 86_400) days"
        }
    }
}
