internal import Carriers
internal import SecretSearch
internal import SharedFiles

/// What was found in one file: each value once, the gravest of each check up to its limit, the rest counted.
///
/// A value that lies in several places, live and in freed pages for instance, is one finding that says how many there are.
final class LeafFindings {
    /// What decides how grave a secret is, so that a file with millions of them need not ask about each.
    struct Kind: Hashable {
        let check: String
        let certainty: SecretMatch.Certainty
        let presence: Leaf.Presence
        let isExpired: Bool
    }

    /// What came of a file.
    struct Result {
        var findings: [Finding] = []
        var omissions = AuditOmissions()
        var usedIgnores: Set<String> = []
    }

    private let limit: Int
    private let place: FindingPlace
    private let suppressions: Suppressions
    private var suppression: FileSuppression
    private var allowed = 0
    private var checks: [String: CheckFindings] = [:]
    /// Where a value is listed, by the hash of check, name and value.
    private var known: [Int: CheckFindings] = [:]
    /// Values that are suppressed, so that each is counted once.
    private var suppressed: Set<Int> = []
    private var kinds: [Kind: (check: CheckFindings, severity: Severity)] = [:]

    /// Beyond that one that occurs twice may be counted twice.
    private static let mostSuppressed = 100_000

    init(_ subject: AuditSubject, in scope: AuditScope, _ suppressions: Suppressions) {
        limit = max(1, scope.limits.maximumFindingsPerCheck)
        place = FindingPlace(subject.path, in: scope)
        self.suppressions = suppressions
        suppression = FileSuppression(suppressions)
    }

    /// Counts a finding that its own line allows.
    func countAllowed() { allowed += 1 }

    /// Adds a secret.
    ///
    /// - Parameter hit: Makes the words; asked only where they may be listed.
    func add(
        _ kind: Kind, _ part: Range<Int>, in leaf: Leaf, at position: inout BlockPosition, _ hit: () -> ContentHit
    ) {
        let value = UnsafeRawBufferPointer(rebasing: leaf.bytes[part])
        let key = Self.key(kind.check, leaf.name, value)
        if let seen = kinds[kind] {
            if let check = known[key] {
                if check.addPlace(of: key, seen.severity) { return }
            } else if !suppressions.isActive, seen.check.hasNoPlace(for: seen.severity) {
                return seen.check.count()
            }
        }
        let hit = hit()
        kinds[kind] = (findings(of: hit.check), hit.severity ?? hit.check.severity)
        add(hit, key, leaf, value) { position.location(of: part, place: $0) }
    }

    /// Adds what an inspector of leaves found.
    func add(_ hit: ContentHit, in leaf: Leaf, at position: BlockPosition) {
        let all = leaf.bytes.indices
        let part = hit.range?.clamped(to: all) ?? all
        var position = position
        leaf.withValue(part) { value in
            let key = Self.key(hit.check.id, leaf.name, value)
            add(hit, key, leaf, value) { position.location(of: part, place: $0) }
        }
    }

    /// Adds what concerns the whole file.
    func add(_ hit: ContentHit) {
        var detail = hit.detail
        let key = detail.withUTF8 { Self.key(hit.check.id, nil, UnsafeRawBufferPointer($0)) }
        add(hit, key, nil, UnsafeRawBufferPointer(start: nil, count: 0)) { _ in nil }
    }

    /// Everything, and what was left out.
    func result() -> Result {
        var result = Result()
        result.findings = checks.values.flatMap(\.findings)
        result.omissions.unlisted = checks.mapValues(\.unlisted).filter { $0.value > 0 }
        result.omissions.ignored = suppression.ignored
        result.omissions.inBaseline = suppression.inBaseline
        result.omissions.allowedInline = allowed
        result.usedIgnores = suppression.used
        return result
    }
}

extension LeafFindings {
    private static func key(_ check: String, _ name: UnsafeRawBufferPointer?, _ value: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(check)
        hasher.combine(name?.count)
        if let name { hasher.combine(bytes: name) }
        hasher.combine(bytes: value)
        return hasher.finalize()
    }

    private func findings(of check: AuditCheck) -> CheckFindings {
        if let findings = checks[check.id] { return findings }
        let findings = CheckFindings(limit: limit)
        checks[check.id] = findings
        return findings
    }

    private func add(
        _ hit: ContentHit, _ key: Int, _ leaf: Leaf?, _ value: UnsafeRawBufferPointer,
        _ location: (_ place: String) -> FindingLocation?
    ) {
        let severity = hit.severity ?? hit.check.severity
        if suppressed.contains(key) || known[key]?.addPlace(of: key, severity) == true { return }
        let trail = leaf?.trail.text.printable ?? ""
        var finding = hit.check.finding(
            at: place, hit.detail, severity: severity, confidence: hit.confidence, remedy: hit.remedy)
        finding.location = location(trail)
        finding.fingerprint = suppressions.text(
            of: finding.id, path: finding.path, place: trail,
            name: leaf?.name ?? UnsafeRawBufferPointer(start: nil, count: 0), value: value)
        if suppression.takes(finding.fingerprint) {
            if suppressed.count < Self.mostSuppressed { suppressed.insert(key) }
            return
        }
        let check = findings(of: hit.check)
        known[key] = check
        if let evicted = check.list(finding, key: key) { known[evicted] = nil }
    }
}

extension Leaf {
    /// The bytes of a part of the value; a number's and a flag's are all of it.
    fileprivate func withValue(_ part: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Void) {
        switch value {
        case .number(let number): withUnsafeBytes(of: number.bitPattern.littleEndian, body)
        case .flag(let flag): withUnsafeBytes(of: flag ? UInt8(1) : 0, body)
        default: body(UnsafeRawBufferPointer(rebasing: bytes[part]))
        }
    }
}
