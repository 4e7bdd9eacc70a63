internal import ContentDecoding
internal import FoundationEssentials
internal import SecretDetection

/// Says what a secret means where it was found: severity by weight, certainty, presence and age; the remedy by what holds it.
enum SecretJudge {
    /// - Parameter now: The time of day, which decides whether a token can still be used.
    static func hit(for match: SecretMatch, in leaf: Leaf, of subject: AuditSubject, now: Date = Date()) -> ContentHit {
        let check = AuditCheck(match.rule)
        let isExpired = match.expires.map { Double($0) <= now.timeIntervalSince1970 } ?? false
        var severity = check.severity
        // A look-alike, something its program has let go of, and a token that nobody takes any more weigh less; each step
        // stays above `info`, for the value can be read all the same.
        if match.certainty == .possible { severity = severity.lowered }
        if leaf.presence == .freed { severity = severity.lowered }
        // A rule of its own for what has expired weighs that itself.
        if isExpired && !match.rule.id.hasSuffix(".expired") { severity = severity.lowered }
        return ContentHit(
            check: check, severity: severity, confidence: confidence(match.certainty),
            detail: detail(match, leaf, isExpired), remedy: remedy(check, leaf, subject), range: match.range)
    }

    private static func confidence(_ certainty: SecretMatch.Certainty) -> Confidence {
        switch certainty {
        case .certain: .certain
        case .likely: .likely
        case .possible: .possible
        }
    }

    // MARK: Words

    private static func detail(_ match: SecretMatch, _ leaf: Leaf, _ isExpired: Bool) -> String {
        var sentences = [reason(match.certainty)]
        switch leaf.presence {
        case .live: break
        case .logged: sentences.append("It lies only in the database's log.")
        case .freed: sentences.append("It was deleted, and its bytes were not overwritten.")
        }
        if let expires = match.expires {
            let seconds = UInt64(clamping: expires).multipliedReportingOverflow(by: 1000)
            let time = MillisecondTime.text(MillisecondTime.date(seconds.overflow ? .max : seconds.partialValue))
            sentences.append(isExpired ? "It expired at \(time)." : "It can be used until \(time).")
        }
        return sentences.joined(separator: " ")
    }

    private static func reason(_ certainty: SecretMatch.Certainty) -> String {
        switch certainty {
        case .certain: "Its form is that of nothing else."
        case .likely: "Its form or its randomness speaks for it."
        case .possible: "It has a name that secrets have."
        }
    }

    /// The rule's own remedy, then what to do about what holds it; nil for the check's own where that is all.
    private static func remedy(_ check: AuditCheck, _ leaf: Leaf, _ subject: AuditSubject) -> String {
        "\(check.remedy) \(SecretHolder(leaf, subject).remedy)"
    }
}
