/// Variables and configuration files.
enum SettingsCheck {
    /// Takes the settings for the other checks as well.
    static func examine(_ stated: SettingLayer) -> Diagnosis {
        do throws(Failure) { try Settings.begin(with: stated) } catch { return .fail("settings", error) }
        let settings = Settings.current
        let files = settings.files.filter(\.wasRead).map(\.path)
        let values = settings.all.filter { $0.value.text != "false" }.map { "\($0.name.rawValue) (\($0.value.origin))" }
        let from = files.isEmpty ? "no configuration file" : files.joined(separator: ", ")
        return .ok("settings", values.isEmpty ? from : "\(from); \(values.joined(separator: ", "))")
    }
}
