/// Whether a person may be asked.
enum Interaction {
    static var isAllowed: Bool { !Settings.current.isOn(.noInput) }

    /// - Parameters:
    ///   - subject: What would be asked for.
    ///   - hint: How to say it without being asked.
    /// - Throws: `Failure` `inputNeeded` with `--no-input`.
    static func require(for subject: String, hint: String) throws(Failure) {
        guard !isAllowed else { return }
        let origin = Settings.current[.noInput]?.origin ?? SettingName.noInput.flag
        throw Failure(
            .unavailable, "inputNeeded", "\(subject) would be asked for, and \(origin) forbids that", hint: hint)
    }
}
