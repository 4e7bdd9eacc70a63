/// Files of secret keys that a person has named.
enum StatedKeyFiles {
    /// Those of the settings.
    static var ofSettings: [String] { [Settings.current[.identity]?.text].compactMap(\.self) }
}
