internal import CryptoPrimitives
package import Sealing

/// A roster with the signature of its team key. It results only from signing or verifying.
package struct SignedRoster: Sendable, Hashable {
    package let roster: Roster
    /// The bytes of the whole file.
    package let bytes: [UInt8]
    private let rulesByName: [String: Roster.Rule]
    private let rulesByPrefix: [String: Roster.Rule]

    private init(_ roster: Roster, bytes: [UInt8]) {
        self.roster = roster
        self.bytes = bytes
        rulesByName = Self.index(roster, .name)
        rulesByPrefix = Self.index(roster, .prefix)
    }

    private static func index(_ roster: Roster, _ kind: GovernedPattern.Kind) -> [String: Roster.Rule] {
        let rules = roster.rules.lazy.filter { $0.pattern.kind == kind }.map { ($0.pattern.path, $0) }
        return Dictionary(rules) { first, _ in first }
    }

    package static func == (left: Self, right: Self) -> Bool { left.bytes == right.bytes }
    package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

    // MARK: Signing and verifying

    /// Signs a roster.
    ///
    /// - Throws: `VaultError` `.wrongTeamKey` for another key than the roster names, `.tooLarge`.
    package init(signing roster: Roster, with key: TeamKey) throws(VaultError) {
        guard roster.team == key.publicKey else {
            throw VaultError(
                .wrongTeamKey, "sign", "the roster", "It names \(roster.team), and the key is \(key.publicKey).",
                advice: "Use the team key that the roster names.")
        }
        let body = roster.encoded
        guard body.count + Roster.signatureSize <= Roster.maximumSize else {
            throw VaultError(
                .tooLarge, "sign", "the roster", "It has \(body.count) bytes; \(Roster.maximumSize) are allowed.")
        }
        // Parse the bytes, so that no roster is signed that readers refuse.
        let parsed = try Roster(parsing: body[...])
        self.init(parsed, bytes: body + key.sign(Self.digest(body[...])))
    }

    /// Verifies a roster's file: format, group, the signature of the key that it names, its chain of team keys. The
    /// caller checks that the key is the group's, with ``isOfTeam(_:)``.
    ///
    /// - Throws: `VaultError` `.malformedRoster`, `.unsupported`, `.wrongGroup`, `.wrongTeamKey`.
    package init(verifying bytes: [UInt8], group: String) throws(VaultError) {
        try self.init(trusting: bytes, group: group)
        let signature = Array(bytes.suffix(Roster.signatureSize))
        guard roster.team.hasSigned(Self.digest(bytes.dropLast(Roster.signatureSize)), signature) else {
            throw VaultError(
                .wrongTeamKey, "verify", "the roster", "Its signature is wrong.",
                advice: "Put the newest signed roster in its place.")
        }
        try requireChain()
    }

    /// Parses bytes that were verified before, for this user's memory.
    ///
    /// - Throws: `VaultError` `.malformedRoster`, `.unsupported`, `.wrongGroup`.
    init(trusting bytes: [UInt8], group: String) throws(VaultError) {
        guard bytes.count <= Roster.maximumSize, bytes.count > Roster.signatureSize else {
            throw .malformedRoster("It has \(bytes.count) bytes.")
        }
        let roster = try Roster(parsing: bytes.dropLast(Roster.signatureSize))
        guard roster.group == group else {
            throw VaultError(
                .wrongGroup, "verify", "the roster", "It belongs to another group.",
                advice: "Put this group's roster in its place.")
        }
        self.init(roster, bytes: bytes)
    }

    private static func digest(_ body: ArraySlice<UInt8>) -> [UInt8] {
        BLAKE2b.hash(Array(body), personalization: .roster, count: 64)
    }

    /// Requires that each team key named its successor and that the last one signs.
    private func requireChain() throws(VaultError) {
        var previous: TeamPublicKey?
        for step in roster.successions {
            let isNext = previous == nil || previous == step.former
            guard isNext, step.former.hasSigned(Self.digest(of: step, in: roster), step.signature) else {
                throw Self.brokenChain
            }
            previous = step.next
        }
        guard previous == nil || previous == roster.team, Set(teamKeys).count == teamKeys.count else {
            throw Self.brokenChain
        }
    }

    private static let brokenChain = VaultError(
        .wrongTeamKey, "verify", "the roster", "Its chain of team keys is broken.",
        advice: "Put the newest signed roster in its place.")

    private static func digest(of step: Roster.Succession, in roster: Roster) -> [UInt8] {
        var input: [UInt8] = []
        input.appendText(roster.group)
        roster.id.withUnsafeBytes { input.append(contentsOf: $0) }
        input += step.former.key.bytes + step.next.key.bytes
        return BLAKE2b.hash(input, personalization: .teamSuccession, count: 64)
    }

    /// All team keys of the group, the present one last.
    package var teamKeys: [TeamPublicKey] { roster.successions.map(\.former) + [roster.team] }

    /// Returns whether a known team key is the present one or one of its predecessors.
    package func isOfTeam(_ known: TeamPublicKey) -> Bool { teamKeys.contains(known) }

    // MARK: Judging

    /// Returns the rule with the longest pattern that governs a name.
    package func rule(for name: String) -> Roster.Rule? {
        if let rule = rulesByName[name] { return rule }
        if rulesByPrefix.isEmpty { return nil }
        var path = Substring(name)
        while let slash = path.lastIndex(of: "/") {
            path = path[..<slash]
            if let rule = rulesByPrefix[String(path)] { return rule }
        }
        // The pattern `*`: every name but the library's own.
        return rulesByPrefix[""].flatMap { $0.pattern.governs(name) ? $0 : nil }
    }

    /// Returns the label of a writer, for users.
    package func label(of writer: WriterID) -> String? { roster.writer(writer)?.label }
}

extension Roster {
    /// Returns the roster with another team key, named by the present one.
    package func succeeded(by next: TeamPublicKey, naming key: TeamKey) throws(VaultError) -> Roster {
        guard key.publicKey == team, successions.count < Self.maximumSuccessions,
            next != team, !successions.contains(where: { $0.former == next })
        else {
            throw VaultError(
                .wrongTeamKey, "name the next team key of", "the roster",
                "Only the present team key can name the next one, and a former team key cannot be the next.")
        }
        var input: [UInt8] = []
        input.appendText(group)
        id.withUnsafeBytes { input.append(contentsOf: $0) }
        input += team.key.bytes + next.key.bytes
        let signature = key.sign(BLAKE2b.hash(input, personalization: .teamSuccession, count: 64))
        var roster = self
        roster.successions.append(Succession(former: team, next: next, signature: signature))
        roster.team = next
        return roster
    }
}
