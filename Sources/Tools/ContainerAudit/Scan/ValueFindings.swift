internal import ContentDecoding
internal import SecretDetection
internal import SharedFiles

/// The findings of one file: each value once, the most severe of each check up to its limit, the rest counted.
///
/// A value in several positions, such as live and freed pages, is one finding with the number of positions. The same
/// applies to a value that several rules find, or with several names. For nested values, the innermost position counts.
final class ValueFindings {
    /// The properties that determine a secret's severity, so that it is not recomputed for each of millions of secrets.
    struct Kind: Hashable {
        let check: String
        let certainty: SecretMatch.Certainty
        let presence: DecodedValue.Presence
        let isExpired: Bool
    }

    /// The result of a file.
    struct Result {
        var findings: [Finding] = []
        var unlisted = FindingTally()
        var omissions = AuditOmissions()
        var usedIgnores: Set<String> = []
    }

    private let limit: Int
    private let place: FindingPlace
    private let suppressions: Suppressions
    private var suppression: FileSuppression
    private var allowed = 0
    private var checks: [String: CheckFindings] = [:]
    /// The list of each value, and the strength of its finding.
    private var known: [Int: (check: CheckFindings, strength: FindingStrength)] = [:]
    /// The suppressed values, so that each is counted once.
    private var suppressed: [Int: FindingStrength] = [:]
    private var kinds: [Kind: (check: CheckFindings, severity: Severity)] = [:]
    private var outer = OuterMatches()

    /// The limit on suppressed values. Beyond it, a value that occurs twice may be counted twice.
    private static let mostSuppressed = 100_000

    init(_ subject: AuditSubject, in scope: AuditScope, _ suppressions: Suppressions) {
        limit = scope.limits.maximumFindingsPerCheck
        place = FindingPlace(subject.path, in: scope)
        self.suppressions = suppressions
        suppression = FileSuppression(suppressions)
    }

    /// Counts a finding that its own line allows.
    func countAllowed() { allowed += 1 }

    /// Enters a value with secrets. Call this once for each value, before the first of its secrets.
    func enter(_ leaf: DecodedValue) { for waiting in outer.enter(leaf) { keep(waiting.finding) } }

    /// Adds a secret of the current value.
    ///
    /// - Parameter hit: Creates the description. Called only if the finding may be listed.
    func add(
        _ kind: Kind, _ part: Range<Int>, in leaf: DecodedValue, at position: inout BlockPosition,
        _ hit: () -> ContentHit
    ) {
        let value = UnsafeRawBufferPointer(rebasing: leaf.bytes[part])
        let key = Self.key(of: value)
        outer.claim(key, rule: kind.check)
        if let seen = kinds[kind] {
            if let listed = known[key] {
                let strength = strength(kind, seen.severity, leaf)
                if strength <= listed.strength { return listed.check.addPlace(of: key) }
            } else if !suppressions.isActive, seen.check.hasNoPlace(for: seen.severity) {
                return seen.check.count(seen.severity)
            }
        }
        let hit = hit()
        let severity = hit.severity ?? hit.check.severity
        kinds[kind] = (findings(of: hit.check), severity)
        let finding = prepare(hit, key, strength(kind, severity, leaf), leaf, value) {
            position.location(of: part, place: $0)
        }
        if let waiting = Self.waiting(finding, kind.check, part, value, leaf) {
            outer.hold(waiting, of: leaf)
        } else {
            keep(finding)
        }
    }

    /// Adds a hit of an inspector.
    func add(_ hit: ContentHit, in leaf: DecodedValue, at position: BlockPosition) {
        let all = leaf.bytes.indices
        let part = hit.range?.clamped(to: all) ?? all
        var position = position
        leaf.withValue(part) { value in
            let key = Self.key(hit.check.id, leaf.name, value)
            keep(prepare(hit, key, strength(hit, leaf), leaf, value) { position.location(of: part, place: $0) })
        }
    }

    /// Adds a hit that concerns the whole file.
    func add(_ hit: ContentHit) {
        var detail = hit.detail
        detail.withUTF8 { words in
            let words = UnsafeRawBufferPointer(words)
            // Another damage of the file is another finding, while another count of the same damage is not.
            let value = hit.check.id.hasPrefix("content.") ? words : UnsafeRawBufferPointer(start: nil, count: 0)
            keep(prepare(hit, Self.key(hit.check.id, nil, words), strength(hit, nil), nil, value) { _ in nil })
        }
    }

    /// Returns all findings and omissions.
    func result() -> Result {
        for waiting in outer.takeAll() { keep(waiting.finding) }
        var result = Result()
        result.findings = checks.values.flatMap(\.findings)
        for (id, check) in checks {
            for (severity, count) in check.unlisted { result.unlisted.add(id, severity, count) }
        }
        result.omissions.ignored = suppression.ignored
        result.omissions.inBaseline = suppression.inBaseline
        result.omissions.allowedInline = allowed
        result.usedIgnores = suppression.used
        return result
    }
}

extension ValueFindings {
    /// Returns the key of a secret, independent of its rule and its name.
    private static func key(of value: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: value)
        return hasher.finalize()
    }

    private static func key(_ check: String, _ name: UnsafeRawBufferPointer?, _ value: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(check)
        hasher.combine(name?.count)
        if let name { hasher.combine(bytes: name) }
        hasher.combine(bytes: value)
        return hasher.finalize()
    }

    private func strength(_ kind: Kind, _ severity: Severity, _ leaf: DecodedValue) -> FindingStrength {
        FindingStrength(kind.certainty, check: kind.check, severity: severity, isNamed: leaf.name != nil)
    }

    private func strength(_ hit: ContentHit, _ leaf: DecodedValue?) -> FindingStrength {
        FindingStrength(
            .certain, check: hit.check.id, severity: hit.severity ?? hit.check.severity, isNamed: leaf?.name != nil)
    }

    private func findings(of check: AuditCheck) -> CheckFindings {
        if let findings = checks[check.id] { return findings }
        let findings = CheckFindings(limit: limit)
        checks[check.id] = findings
        return findings
    }

    /// Returns a waiting match, or `nil` for a match that cannot recur in a nested value: one in running text, or one
    /// that is all of its value by its form.
    private static func waiting(
        _ finding: PreparedFinding, _ rule: String, _ part: Range<Int>, _ value: UnsafeRawBufferPointer,
        _ leaf: DecodedValue
    ) -> OuterMatches.Waiting? {
        switch leaf.value {
        case .text, .data: break
        default: return nil
        }
        let isWhole = rule.hasPrefix("field.") && part.count + 2 >= leaf.bytes.count
        guard isWhole || part.count < leaf.bytes.count else { return nil }
        let isEscaped = value.contains { "\\&%".utf8.contains($0) }
        return OuterMatches.Waiting(finding: finding, rule: rule, isEscaped: isEscaped, isWhole: isWhole)
    }

    private func prepare(
        _ hit: ContentHit, _ key: Int, _ strength: FindingStrength, _ leaf: DecodedValue?,
        _ value: UnsafeRawBufferPointer,
        _ location: (_ place: String) -> FindingLocation?
    ) -> PreparedFinding {
        let trail = leaf?.trail.text.printable ?? ""
        var finding = hit.check.finding(
            at: place, hit.detail, severity: strength.severity, confidence: hit.confidence, remedy: hit.remedy)
        finding.location = location(trail)
        finding.fingerprint = suppressions.text(
            of: finding.id, path: finding.path, place: trail,
            name: leaf?.name ?? UnsafeRawBufferPointer(start: nil, count: 0), value: value)
        return PreparedFinding(key: key, check: hit.check, finding: finding, strength: strength)
    }

    private func keep(_ prepared: PreparedFinding) {
        let key = prepared.key
        if let known = suppressed[key], prepared.strength <= known { return }
        if let known = known[key], prepared.strength <= known.strength { return known.check.addPlace(of: key) }
        let places = known.removeValue(forKey: key)?.check.remove(key) ?? 0
        if suppression.takes(prepared.finding.fingerprint) {
            if suppressed.count < Self.mostSuppressed { suppressed[key] = prepared.strength }
            return
        }
        let check = findings(of: prepared.check)
        known[key] = (check, prepared.strength)
        if let evicted = check.list(prepared.finding, key: key, places: places + 1) { known[evicted] = nil }
    }
}

/// The order of several findings about the same value: the more certain one comes first, then the one of the more
/// specific rule, then the more severe one, then the one with a named position.
struct FindingStrength: Comparable, Sendable {
    let certainty: SecretMatch.Certainty
    /// The specificity: 2 for a secret with a form of its own, 1 for one identified by its surroundings, 0 for one
    /// identified by its name alone.
    let particularity: Int
    let severity: Severity
    let isNamed: Bool

    init(_ certainty: SecretMatch.Certainty, check: String, severity: Severity, isNamed: Bool) {
        self.certainty = certainty
        self.severity = severity
        self.isNamed = isNamed
        particularity = check.hasPrefix("field.") ? 0 : check.hasPrefix("header.") || check.hasPrefix("url.") ? 1 : 2
    }

    static func < (a: FindingStrength, b: FindingStrength) -> Bool {
        if a.certainty != b.certainty { return a.certainty < b.certainty }
        if a.particularity != b.particularity { return a.particularity < b.particularity }
        if a.severity != b.severity { return a.severity < b.severity }
        return !a.isNamed && b.isNamed
    }
}
