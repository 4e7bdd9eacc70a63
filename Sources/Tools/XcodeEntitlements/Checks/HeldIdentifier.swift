internal import AppGroups

/// An identifier of an entitlements file, as it is written and as it is signed.
struct HeldIdentifier: Sendable, Hashable {
    let raw: String
    /// Expanded; settings that nothing defines stand in it as they are written.
    let text: String
    /// Those settings.
    let undefined: [String]
    /// Settings that other configurations define and this one does not: nothing stands in their place.
    let emptied: [String]
    let line: Int?

    /// For people: an unknown team is said to be one.
    var shown: String { Self.shown(text) }

    static func shown(_ text: String) -> String {
        text.split(separator: BuildSettings.unknownTeam, omittingEmptySubsequences: false).joined(separator: "<team>")
    }

    /// Whether it can be judged: references that are left in it stand for anything.
    var isExpanded: Bool { !text.contains("$") }
}
