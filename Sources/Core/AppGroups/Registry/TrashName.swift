/// The name of a container in the trash: `<group>~<moved, UTC>~<8 digits>`. No group's identifier has a tilde.
struct TrashName: Hashable, Sendable {
    let group: AppGroup
    /// `20261121T130405Z`; sorts by time.
    let moved: String
    private let digits: String

    var string: String { "\(group.identifier)~\(moved)~\(digits)" }

    /// A fresh name, now.
    init(of group: AppGroup) {
        self.group = group
        moved = UTCTime.compact
        let random = String(UInt32.random(in: .min ... .max), radix: 16)
        digits = String(repeating: "0", count: 8 - random.count) + random
    }

    /// Nil for what no trash name is.
    init?(_ name: String) {
        let parts = name.split(separator: "~", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let group = try? AppGroup(parts[0]), parts[1].utf8.count == 16,
            parts[1].utf8.allSatisfy(\.isUpperCaseLetterOrDigit), parts[2].utf8.count == 8,
            parts[2].utf8.allSatisfy(\.isLetterOrDigit)
        else { return nil }
        self.group = group
        moved = parts[1]
        digits = parts[2]
    }
}
