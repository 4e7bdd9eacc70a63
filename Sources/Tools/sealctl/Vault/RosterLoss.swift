internal import AppGroups
internal import KeyVault
internal import SealedState
internal import Sealing

/// The losses by the next version of a roster: rights of writers, and records that readers would refuse.
struct RosterLoss {
    private let next: SignedRoster
    /// The writers that lose a right, one sentence each.
    private let rights: [String]
    /// True if the next version may refuse a record that readers accept now.
    private let mayRefuse: Bool

    init(from roster: Roster, to next: SignedRoster) {
        self.next = next
        var taken: [WriterID: [String]] = [:]
        var sentences: [String] = []
        var isMoreGoverned = false
        let patterns = Set(roster.rules.map(\.pattern)).union(next.roster.rules.map(\.pattern))
        for pattern in patterns.sorted() {
            // The pattern is used as a name, which is governed like the names that the pattern no longer governs. No
            // real name contains an asterisk.
            let name = pattern.description
            guard let before = roster.rule(for: name) else {
                isMoreGoverned = true
                continue
            }
            guard next.roster.rule(for: name) != nil else {
                sentences.append(Self.opening(pattern, before, roster))
                continue
            }
            for writer in before.grants.keys {
                let lost = roster.rightsInForce(of: writer, name)
                    .subtracting(next.roster.rightsInForce(of: writer, name))
                guard !lost.isEmpty else { continue }
                taken[writer, default: []].append("\(name) (\(RosterView.text(lost)))")
            }
        }
        for writer in roster.writers {
            guard let names = taken[writer.id] else { continue }
            sentences.append("The writer \(writer.label) loses its right to \(names.joined(separator: ", ")).")
        }
        rights = sentences
        let isEnding = roster.writers.contains { next.roster.writer($0.id)?.state != $0.state }
        mayRefuse = isMoreGoverned || isEnding || !taken.isEmpty
    }

    private static func opening(_ pattern: GovernedPattern, _ rule: Roster.Rule, _ roster: Roster) -> String {
        let writers = rule.grants.keys.compactMap { roster.writer($0)?.label }.sorted()
        let former = writers.isEmpty ? "no writer could until now" : "not only \(Affected.list(writers, orElse: ""))"
        return "\(pattern) is not governed any more: every program with the group's keys may write it, \(former)."
    }

    /// Asks for consent if a right or a record is lost. A change that only grants rights needs no consent.
    ///
    /// - Parameters:
    ///   - losses: Further losses, a sentence each.
    ///   - store: Opens the group's store, which contains the records.
    func confirm(
        _ action: String, _ confirmation: Confirmation, losses: [String] = [],
        in store: () throws(Failure) -> SealedStore
    ) throws(Failure) {
        if confirmation.yes { return }
        var sentences = losses + rights
        if mayRefuse {
            do throws(Failure) {
                let store = try store()
                let records = try Self.records(refusedBy: next, in: store)
                let locked = try Self.locked(in: store)
                if !records.isEmpty {
                    sentences.append("Readers refuse from then on: \(records.joined(separator: ", ")).")
                } else if !sentences.isEmpty, locked.isEmpty {
                    sentences.append("No record that opens now becomes unreadable.")
                }
                if !sentences.isEmpty, !locked.isEmpty {
                    sentences.append("Locked, and not examined: \(locked.joined(separator: ", ")).")
                }
            } catch {
                sentences.append("It is not known which records become unreadable: \(error.message).")
            }
        }
        guard !sentences.isEmpty else { return }
        try confirmation.require(action, sentences)
    }

    private static func locked(in store: SealedStore) throws(Failure) -> [String] {
        let listed = try Failure.onStore { () throws(StoreError) in try store.list(includingReserved: true) }
        return listed.filter { $0.rejection?.code == .locked }.map(\.name)
    }

    /// Returns the records that readers accept now and would refuse.
    static func records(refusedBy next: SignedRoster, in store: SealedStore) throws(Failure) -> [String] {
        let listed = try Failure.onStore { () throws(StoreError) in try store.list(includingReserved: true) }
        return listed.filter { $0.rejection == nil }.map(\.name).filter { name in
            switch try? store.authorisation(ofRecord: name, by: next) {
            case .notGoverned, .authorised: false
            default: true
            }
        }
    }
}

extension Roster {
    /// Returns the rights of an active writer; empty if no rule governs the name.
    fileprivate func rightsInForce(of id: WriterID, _ name: String) -> Rights {
        writer(id)?.state == .active ? rights(of: id, for: name) ?? [] : []
    }
}
