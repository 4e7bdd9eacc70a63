internal import AppGroups
internal import KeyVault
internal import SealedState
internal import SharedFiles

/// The audited contents of a container, for checks of the whole.
struct SeenContainer: Sendable {
    /// The files by path.
    let files: [AuditedFile]
    /// The listed names, without the container itself.
    let entries: ContainerEntries.List
    let scope: AuditScope

    /// The existing records: sealed, in their place, and not deletions.
    var records: [(name: String, file: AuditedFile, facts: SealedFacts)] {
        files.compactMap { file in
            guard file.kind == .sealedRecord, let facts = file.record, !facts.isDeleted, let name = facts.name else {
                return nil
            }
            return (name, file, facts)
        }
    }
}

/// Inspects a container as a whole, after every file was examined. New families of such checks implement this.
protocol ContainerInspector: Sendable {
    /// Returns the findings, which are empty if nothing is wrong.
    func conclude(_ seen: SeenContainer) -> [Finding]
}

/// The inspectors of whole containers, in the order of their calls.
enum ContainerInspectors {
    static let all: [any ContainerInspector] = [
        ReachInspector(), ShareInspector(), HardLinkInspector(), KeyringInspector(), VaultItemInspector(),
        RecordHabitInspector(),
        RegistryInspector(), RosterInspector(),
    ]

    /// Returns the findings of all inspectors.
    static func findings(files: [AuditedFile], entries: ContainerEntries.List, scope: AuditScope) -> [Finding] {
        let seen = SeenContainer(files: files, entries: entries, scope: scope)
        return all.flatMap { $0.conclude(seen) }
    }
}

/// Compares the container's copy of the registry with the registry itself.
struct RegistryInspector: ContainerInspector {
    func conclude(_ seen: SeenContainer) -> [Finding] {
        guard let group = seen.scope.group, let home = seen.scope.home else { return [] }
        let registry = GroupRegistry(group, in: home)
        // Compared twice, because a program that changes its registration writes one after the other.
        guard registry.copyDiffers(in: seen.scope.root) == true, registry.copyDiffers(in: seen.scope.root) == true
        else { return [] }
        return [
            AuditCheck.copyDiffers.finding(
                at: FindingPlace(ContainerLayout.metadata, in: seen.scope), "The registry is \(registry.path).")
        ]
    }
}

/// Compares the roster file in the container with the last accepted roster.
struct RosterInspector: ContainerInspector {
    func conclude(_ seen: SeenContainer) -> [Finding] {
        guard let current = seen.scope.store?.rosterState else { return [] }
        let detail: String
        switch current.condition {
        case .current: return []
        case .missing: detail = "It does not exist."
        case .older(let version): detail = "It has version \(version)."
        case .forked: detail = "It has the version of the accepted one and other bytes."
        case .refused(let error): detail = error.reason
        }
        let accepted = current.roster.map { "Version \($0.roster.version) was accepted and stays in effect." }
        let rest = accepted ?? "No roster was ever accepted: every record is refused."
        return [
            AuditCheck.rosterNotCurrent.finding(
                at: FindingPlace(ContainerLayout.roster, in: seen.scope), "\(detail) \(rest)")
        ]
    }
}

/// The share of plaintext in a container with sealed files.
struct ShareInspector: ContainerInspector {
    func conclude(_ seen: SeenContainer) -> [Finding] {
        let open = Self.bytes(seen.files) { $0.isPlaintext }
        let sealed = Self.bytes(seen.files) { $0.kind.isSealed }
        // In a container without sealed files, or with little plaintext, each file has its own finding.
        guard sealed > 0, open >= Self.leastBytes else { return [] }
        let share = Int((Double(open) / Double(open + sealed) * 100).rounded())
        guard share >= Self.leastShare else { return [] }
        let text = share == 100 ? "More than 99" : "\(share)"
        return [
            AuditCheck.plaintextShare.finding(
                at: FindingPlace(".", in: seen.scope),
                "\(text) % of the bytes are not sealed: \(open) of \(open + sealed).")
        ]
    }

    private static let leastBytes: Int64 = 64 << 10
    /// The threshold in percent.
    private static let leastShare = 10

    private static func bytes(_ files: [AuditedFile], _ isCounted: (AuditedFile) -> Bool) -> Int64 {
        files.reduce(0) { isCounted($1) ? $0 + $1.storedSize : $0 }
    }
}

/// Files with hard links outside the container.
struct HardLinkInspector: ContainerInspector {
    private struct Inode: Hashable {
        let device: UInt64
        let number: UInt64
    }

    func conclude(_ seen: SeenContainer) -> [Finding] {
        var names: [Inode: [(path: String, names: UInt64)]] = [:]
        for entry in seen.entries {
            guard let facts = entry.attributes, facts.kind == .regular, facts.nlink > 1 else { continue }
            names[Inode(device: facts.device, number: facts.inode), default: []].append((entry.path, facts.nlink))
        }
        return names.values.compactMap { Self.finding($0, seen.scope) }.sorted { $0.path < $1.path }
    }

    /// Returns one finding for each file, at the first of its names here, or `nil` if all of its names are here.
    private static func finding(_ names: [(path: String, names: UInt64)], _ scope: AuditScope) -> Finding? {
        guard let first = names.first, first.names > UInt64(names.count) else { return nil }
        let here = names.count == 1 ? "one of them" : "\(names.count) of them"
        return AuditCheck.hardLink.finding(
            at: FindingPlace(first.path, in: scope), "It has \(first.names) names, \(here) in the container.")
    }
}
