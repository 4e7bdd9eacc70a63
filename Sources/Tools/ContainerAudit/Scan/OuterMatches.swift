internal import ContentDecoding

/// Matches in values that may be carriers, held back until their nested values were read: the same secret has a better
/// place there and is one finding.
struct OuterMatches {
    /// A finding that waits for nested values.
    struct Waiting {
        let finding: PreparedFinding
        /// The rule of the finding.
        let rule: String
        /// True if its bytes may be encoded differently in the nested value.
        let isEscaped: Bool
        /// True if the whole value counts by its name. Any secret nested in it is more specific.
        let isWhole: Bool
    }

    private struct Level {
        let trail: String
        var waiting: [Waiting] = []
    }

    private var levels: [Level] = []
    /// The trail of the current value, once requested.
    private var trail: String?
    /// True if the last level is that of the current value.
    private var hasOwn = false

    /// Enters another value with a match.
    ///
    /// - Returns: The waiting findings of values that end here.
    mutating func enter(_ leaf: DecodedValue) -> [Waiting] {
        hasOwn = false
        trail = nil
        guard !levels.isEmpty else { return [] }
        let text = leaf.trail.text
        trail = text
        var done: [Waiting] = []
        while let last = levels.last, !Self.encloses(last.trail, text) {
            done += last.waiting
            levels.removeLast()
        }
        return done
    }

    /// Drops an enclosing value's finding of the same secret.
    mutating func claim(_ key: Int, rule: String) {
        for index in levels.indices.dropLast(hasOwn ? 1 : 0).reversed() {
            let waiting = levels[index].waiting
            let match =
                waiting.firstIndex { $0.finding.key == key } ?? waiting.firstIndex { $0.isEscaped && $0.rule == rule }
                ?? waiting.firstIndex(where: \.isWhole)
            guard let match else { continue }
            levels[index].waiting.remove(at: match)
            return
        }
    }

    /// Holds back a finding of the current value.
    mutating func hold(_ waiting: Waiting, of leaf: DecodedValue) {
        if !hasOwn { levels.append(Level(trail: trail ?? leaf.trail.text)) }
        hasOwn = true
        levels[levels.count - 1].waiting.append(waiting)
    }

    /// Returns and removes all waiting findings.
    mutating func takeAll() -> [Waiting] {
        defer { levels = [] }
        hasOwn = false
        return levels.flatMap(\.waiting)
    }

    /// Returns whether the inner trail is below the outer one, past a form.
    private static func encloses(_ outer: String, _ inner: String) -> Bool {
        outer.isEmpty ? !inner.isEmpty : inner.hasPrefix(outer + " > ")
    }
}

/// A finding with the data for listing it.
struct PreparedFinding {
    /// The key of the finding, the same for all occurrences.
    let key: Int
    let check: AuditCheck
    let finding: Finding
    let strength: FindingStrength
}
