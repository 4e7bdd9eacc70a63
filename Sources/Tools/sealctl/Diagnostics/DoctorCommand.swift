internal import AppGroups
internal import ArgumentParser

/// `sealctl doctor`: is everything set up?
struct DoctorCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Say whether everything is set up, and how to mend what is not.",
        discussion: """
            Looks at the library, the kernel, the settings and the file system; with a group also at its container and \
            its vault. Nothing is changed and nothing is asked for. Each line is ok, warn (works, with less than there \
            could be) or fail, with what to do below it. Exit status 1 says that something fails.

            Examples:
              sealctl doctor
              sealctl doctor --group group.com.example.app
              sealctl doctor --json | jq '.checks[] | select(.state != "ok")'
            """)

    @OptionGroup var groupOptions: GroupOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    /// A setting that makes no sense is one of the things to tell, not a reason to say nothing else.
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
            return [.ok("group", "none was named: no container and no vault was looked at")]
        }
        do throws(Failure) { return GroupChecks.examine(try groupOptions.appGroup(), in: home) } catch {
            return [.fail("group", error)]
        }
    }
}
