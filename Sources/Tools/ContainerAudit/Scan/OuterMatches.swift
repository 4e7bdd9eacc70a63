internal import ContentDecoding

/// Matches in values that may be carriers themselves, held back until what is nested in them was read: the same secret has a
/// better place there, and is one finding.
struct OuterMatches {
    /// A finding that waits.
    struct Waiting {
        let finding: PreparedFinding
        /// The rule that found it.
        let rule: String
        /// Whether its bytes may be spelled otherwise where it is nested.
        let isEscaped: Bool
        /// Whether the whole value counts by its name: whatever secret is nested in it says more.
        let isWhole: Bool
    }

    private struct Level {
        let trail: String
        var waiting: [Waiting] = []
    }

    private var levels: [Level] = []
    /// The trail of the leaf at hand, once somebody asked for it.
    private var trail: String?
    /// Whether the last level is that of the leaf at hand.
    private var hasOwn = false

    /// Goes on to another leaf that has a match.
    ///
    /// - Returns: What waited for values that end here.
    mutating func enter(_ leaf: Leaf) -> [Waiting] {
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

    /// Drops the finding that an enclosing value has of the same secret.
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

    /// Holds back a finding of the leaf at hand.
    mutating func hold(_ waiting: Waiting, of leaf: Leaf) {
        if !hasOwn { levels.append(Level(trail: trail ?? leaf.trail.text)) }
        hasOwn = true
        levels[levels.count - 1].waiting.append(waiting)
    }

    /// Everything that still waits.
    mutating func takeAll() -> [Waiting] {
        defer { levels = [] }
        hasOwn = false
        return levels.flatMap(\.waiting)
    }

    /// What is nested in a value lies below it, past a form.
    private static func encloses(_ outer: String, _ inner: String) -> Bool {
        outer.isEmpty ? !inner.isEmpty : inner.hasPrefix(outer + " > ")
    }
}

/// A finding with what is needed to list it.
struct PreparedFinding {
    /// What is one finding, however often it occurs.
    let key: Int
    let check: AuditCheck
    let finding: Finding
    let strength: FindingStrength
}
