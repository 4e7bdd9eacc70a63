internal import ContentDecoding
internal import FoundationEssentials
internal import SecretDetection

/// Processes every value of one file: the search for secrets, carriers in letters, and the inspectors of values.
final class ValueSearch {
    private let subject: AuditSubject
    private let found: ValueFindings
    private let searcher = SecretSearcher.standard
    private let now: Int64
    private var inspectors: [any ValueInspector]
    private var walk: ValueWalk?
    /// The run that the values were decoded from, or `nil` if it is unknown or the values are the file's own.
    private var wrapped: Range<Int64>?
    /// The file range that was searched last.
    private var searched: Range<Int64>?

    init(_ subject: AuditSubject, in scope: AuditScope, _ found: ValueFindings) {
        self.subject = subject
        self.found = found
        now = Int64(scope.now.timeIntervalSince1970)
        inspectors = ValueInspectors.all.compactMap { $0.init(subject, in: scope) }
    }

    /// Begins a walk. The walk and this object retain each other until `end()`.
    func begin(_ walk: ValueWalk) {
        walk.trail.replacement = PlaceRedaction.replacement
        self.walk = walk
    }

    func end() { walk = nil }

    func visit(_ leaf: DecodedValue) {
        switch leaf.value {
        case .text(let value), .data(let value): judge(value, leaf)
        case .block(let bytes, let line): search(bytes, leaf, line: line)
        case .strings(let bytes): search(bytes, leaf, line: nil)
        case .number, .flag: break
        }
        for index in inspectors.indices {
            for hit in inspectors[index].inspect(leaf) {
                found.add(hit, in: leaf, at: BlockPosition(leaf, wrapped: wrapped))
            }
        }
    }

    /// Adds the final hits of the inspectors.
    func conclude() {
        for index in inspectors.indices {
            for hit in inspectors[index].conclude() { found.add(hit) }
        }
    }

    private func judge(_ value: UnsafeRawBufferPointer, _ leaf: DecodedValue) {
        let matches = searcher.judge(value, named: leaf.name)
        if matches.isEmpty { return }
        var position = BlockPosition(leaf, wrapped: wrapped)
        found.enter(leaf)
        for match in matches where !Fingerprint.covers(match.range, of: value) { add(match, leaf, &position) }
    }

    private func search(_ bytes: UnsafeRawBufferPointer, _ leaf: DecodedValue, line: Int?) {
        let before = overlap(with: leaf)
        guard searcher.isSuspicious(bytes) else { return }
        let allowance = InlineAllowance(in: line == nil ? UnsafeRawBufferPointer(start: nil, count: 0) : bytes)
        var position = BlockPosition(leaf, wrapped: wrapped)
        var hasEntered = false
        let runs = searcher.searchAll(bytes) { match in
            if match.range.upperBound <= before || Fingerprint.covers(match.range, of: bytes) { return }
            if !hasEntered { found.enter(leaf) }
            hasEntered = true
            if allowance.covers(match.rule.id, at: match.range) {
                found.countAllowed()
            } else {
                add(match, leaf, &position)
            }
        }
        unwrap(runs, of: bytes, leaf)
    }

    /// Returns the number of first bytes that repeat the end of the previous block, in which matches were already
    /// found.
    private func overlap(with leaf: DecodedValue) -> Int {
        guard let range = leaf.range, range.count == leaf.bytes.count else { return 0 }
        defer { searched = range }
        guard let searched, searched.contains(range.lowerBound), range.upperBound > searched.upperBound else {
            return 0
        }
        return Int(searched.upperBound - range.lowerBound)
    }

    private func add(_ match: SecretMatch, _ leaf: DecodedValue, _ position: inout BlockPosition) {
        let isExpired = match.expires.map { $0 <= now } ?? false
        let kind = ValueFindings.Kind(
            check: match.rule.id, certainty: match.certainty, presence: leaf.presence, isExpired: isExpired)
        found.add(kind, match.range, in: leaf, at: &position) {
            SecretJudge.hit(for: match, in: leaf, of: subject, now: Date(timeIntervalSince1970: Double(now)))
        }
    }

    private func unwrap(_ runs: [WrappedRun], of bytes: UnsafeRawBufferPointer, _ leaf: DecodedValue) {
        guard let walk, !runs.isEmpty else { return }
        let outer = wrapped
        defer { wrapped = outer }
        for run in runs {
            let place = BlockPosition(leaf, wrapped: outer)
            guard let coding = LetterCoding(rawValue: run.encoding.rawValue) else { continue }
            wrapped = place.bytes(of: run.range)
            // A fault that stops the decoding is noted by the walk, which the next value checks again.
            _ = try? Carriers.readRun(UnsafeRawBufferPointer(rebasing: bytes[run.range]), encoding: coding, walk)
        }
    }
}

/// Redacts possible secrets in places, such as a token that serves as a dictionary key.
enum PlaceRedaction {
    /// Returns the replacement for a name in a place, or `nil` if the name may be shown.
    static func replacement(for name: String) -> String? {
        var copy = name
        let isSecret = copy.withUTF8 { bytes in
            !SecretSearcher.standard.judge(UnsafeRawBufferPointer(bytes), named: nil).isEmpty
        }
        return isSecret || looksDrawn(name) ? "‹a name of \(name.count) characters›" : nil
    }

    /// Returns whether a name contains many capitals, many lowercase letters and many digits, unlike names that people
    /// write.
    private static func looksDrawn(_ name: String) -> Bool {
        var (upper, lower, digits) = (0, 0, 0)
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): upper += 1
            case UInt8(ascii: "a")...UInt8(ascii: "z"): lower += 1
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digits += 1
            default: break
            }
        }
        return upper >= 5 && lower >= 5 && digits >= 4
    }
}
