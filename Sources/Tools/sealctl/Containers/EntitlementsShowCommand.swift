internal import AppGroups
internal import ArgumentParser
internal import PropertyLists
internal import XcodeEntitlements

/// `sealctl entitlements show`: what one file says.
struct EntitlementsShowCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show what an entitlements file or a provisioning profile says.",
        discussion: """
            Nothing is checked but the file's own form; build settings in it are shown as they stand.

            Examples:
              sealctl entitlements show App/App.entitlements
              sealctl entitlements show App.mobileprovision
            """)

    @Argument(help: "An .entitlements file, XML or binary, or a provisioning profile.", completion: .file())
    var file: String
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let isProfile = file.hasSuffix(".mobileprovision") || file.hasSuffix(".provisionprofile")
        try StandardStreams.print(isProfile ? profile() : entitlements())
    }

    private func profile() throws(Failure) -> String {
        let profile: ProvisioningProfile
        do throws(ProvisioningError) {
            profile = try ProvisioningProfile.read(path: file)
        } catch { throw Failure(error) }
        guard !output.json else { return ProfileView(profile).json.text }
        let lines = ProfileDescription(profile, at: try EntitlementsCheckCommand.now()).lines
        return FieldList(lines.map { ($0.label, $0.value) }).text
    }

    private func entitlements() throws(Failure) -> String {
        let document = try Failure.onGroup { () throws(AppGroupError) in try EntitlementsDocument.read(path: file) }
        let view = EntitlementsView(document)
        return output.json ? view.json.text : view.text
    }
}
