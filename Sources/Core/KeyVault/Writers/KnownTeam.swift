package import AppGroups
internal import CryptoPrimitives
internal import Glibc
internal import SharedFiles
internal import SystemPackage

/// The team keys that a program knows for a vault, from every source: its code, the machine's settings, this user's memory
/// of the vault and of the group's roster. They decide which person keys count (`docs/spec/vault.md`, rule V14).
struct KnownTeam {
    let place: VaultPlace
    /// Also `nil` if a person accepts a vault regardless of the memory.
    let memory: PlaceMemory?
    /// `true` if the vault is opened to be certified: then a person key without any certificate is accepted.
    let isCertifying: Bool
    /// The lost team key that a person replaces: its entries in the vault and in this user's memories do not count. The
    /// program and the machine have to name another key first.
    let lostKey: TeamPublicKey?
    /// The group's roster that this user accepted, or the reason why it cannot be read.
    private let accepted: Result<RosterMemory.Contents?, VaultError>

    init(place: VaultPlace, memory: PlaceMemory?, _ options: VaultOptions = VaultOptions()) {
        self.place = place
        self.memory = memory
        isCertifying = options.isCertifying
        lostKey = options.lostTeamKey
        do throws(VaultError) { accepted = .success(try place.rosterMemory?.load()) } catch {
            accepted = .failure(error)
        }
    }

    /// The present team key, and its predecessors.
    struct Keys {
        var present: TeamPublicKey?
        var former: [TeamPublicKey] = []
    }

    /// - Throws: `VaultError` `.wrongTeamKey` if two sources name different keys and no accepted roster says that one
    ///   succeeded the other; the reason why a source cannot be read, because the known key is then undetermined.
    func keys() throws(VaultError) -> Keys {
        let lost = lostKeys
        let accepted = try accepted.get().flatMap { lost.contains($0.teamKey) ? nil : $0 }
        var found: [TeamPublicKey] = []
        let settings = try TeamKeySettings.current.teamKey(of: place.accessGroup)
        // Each directory may remember another key: then only a roster explains which one counts.
        let vaults: [TeamPublicKey] = (memory?.all ?? []).compactMap(\.team)
        let learned = (vaults + [accepted?.teamKey].compactMap { $0 }).filter { !lost.contains($0) }
        for key in [place.teamKey, settings].compactMap({ $0 }) + learned where !found.contains(key) {
            found.append(key)
        }
        guard let first = found.first else { return Keys() }
        guard let roster = accepted?.roster, found.allSatisfy(roster.isOfTeam) else {
            guard found.count == 1 else { throw disagreement(found, isOfMemories: Set(vaults).count > 1) }
            return Keys(present: first)
        }
        return Keys(present: roster.roster.team, former: roster.teamKeys.dropLast())
    }

    /// The lost key and, if the accepted roster is its own, its predecessors.
    private var lostKeys: [TeamPublicKey] {
        guard let lostKey else { return [] }
        guard let roster = (try? accepted.get())?.roster, roster.roster.team == lostKey else { return [lostKey] }
        return roster.teamKeys
    }

    /// The keys that vouch for a vault by a holder's memory code while it is certified: the holder may have computed
    /// the code before the vault named another key.
    var certifyingKeys: [[UInt8]] {
        isCertifying ? (try? keys().present).flatMap { $0 }.map { [$0.key.bytes] } ?? [] : []
    }

    private func disagreement(_ keys: [TeamPublicKey], isOfMemories: Bool) -> VaultError {
        VaultError(
            .wrongTeamKey, "use the vault", place.path,
            "Its team key is stated in different ways: \(keys.map(\.description).joined(separator: ", ")).",
            advice: isOfMemories
                ? "Ask the team which key is its own. If the vault names it: sealctl vault accept."
                : "Correct the program, \(TeamKeySettings.current.path(of: place.accessGroup)), or this user's "
                    + "memory: sealctl roster verify --accept KEY.")
    }

    /// The oldest state that the accepted roster names. Reading records reports an unreadable roster.
    var floor: VaultFloor { (try? accepted.get())?.roster?.roster.floor ?? VaultFloor() }

    // MARK: Judging a register

    /// Checks a parsed register before any credential is tried.
    ///
    /// - Throws: `VaultError` `.rolledBack` for a state below the roster's lowest one; `.replaced` for a person key
    ///   that the team key has not certified; `.wrongTeamKey`, and as `keys()`.
    func check(_ register: Register) throws(VaultError) {
        try check(register.state)
        guard register.person != nil else {
            // Services know the last person key, so it proves nothing that a team key could confirm.
            guard floor.period == 0 else {
                throw .replaced(
                    place.path, "It has no persons, and the group's roster accepts only periods of certified persons.")
            }
            return
        }
        let keys = try keys()
        guard let last = register.chain.last, keys.present != nil || register.teamKey != nil else { return }
        let own = register.team
        let isCertified = own.map { last.isCertified(by: $0, vaultID: register.vaultID) } ?? false
        if isCertified, own == keys.present ?? own { return }
        // Until its successor certifies the vault, a former team key vouches only for the persons accepted before.
        let isFormer = own.map(keys.former.contains) ?? false
        if isCertified, isFormer, isCertifying || memory?.personKey == last.key.bytes { return }
        if isCertifying, register.teamKey == nil || isCertified && own.map(lostKeys.contains) == true { return }
        throw VaultError(
            .replaced, "open the vault", place.path,
            "The team key\((keys.present ?? own).map { " \($0)" } ?? "") has not certified the persons who vouch for it.",
            advice: register.teamKey == nil || isFormer
                ? "If it is the group's own vault, a person certifies it: sealctl vault certify --team-key FILE."
                : "Ask the person who shares it who replaced it; the team key's holder knows the certified persons."
        )
    }

    /// Returns the predecessors of the register's team key in the accepted roster.
    func formerKeys(of register: Register) -> [[UInt8]] {
        guard let own = register.team, let keys = try? keys(), keys.present == own else { return [] }
        return keys.former.map(\.key.bytes)
    }

    /// - Throws: `VaultError` `.rolledBack`.
    func check(_ state: VaultFloor) throws(VaultError) {
        guard floor.isAbove(state) else { return }
        throw .belowFloor(place.path, state, floor)
    }

    // MARK: Certifying

    /// Returns the certificate of a new person key.
    ///
    /// - Parameters:
    ///   - vault: The team key that the vault, or the backup that it is restored from, names.
    ///   - team: The available team key, if any.
    /// - Returns: An empty signature if no team key is known or available.
    /// - Throws: `VaultError` `.teamKeyNeeded`; `.wrongTeamKey` for another key than the present one; `.noRoster`.
    func certificate(
        of key: Ed25519.PublicKey, vaultID: [UInt8], period: UInt32, vault: TeamPublicKey?, by team: TeamKey?
    ) throws(VaultError) -> [UInt8] {
        let required = try keys().present ?? vault.flatMap { lostKeys.contains($0) ? nil : $0 }
        guard let team else {
            guard let required else { return PersonKeyEntry.noSignature }
            throw VaultError(
                .teamKeyNeeded, "create a new person key of", place.path,
                "The team key \(required) certifies its person keys, and was not given.")
        }
        if lostKeys.contains(team.publicKey) { throw .wrongTeamKey(place.path, given: team.publicKey, nil) }
        guard required == nil || required == team.publicKey else {
            throw .wrongTeamKey(place.path, given: team.publicKey, required)
        }
        try requireRoster(of: team.publicKey)
        return team.sign(PersonKeyEntry.certificateDigest(vaultID: vaultID, period: period, key: key))
    }
}

extension KnownTeam {
    /// Requires a roster of the team key: programs that know the key refuse every record without one. A group without a
    /// container has no records.
    ///
    /// - Throws: `VaultError` `.noRoster`; `.containerAway` for a container that cannot be used.
    private func requireRoster(of team: TeamPublicKey) throws(VaultError) {
        guard let group = try? AppGroup(place.accessGroup.identifier) else { return }
        let container: GroupContainer
        do throws(AppGroupError) {
            container = try GroupContainer.open(group, in: place.home, creating: false, entitlements: .unchecked)
        } catch {
            if error.code == .containerMissing { return }
            throw VaultError(
                .containerAway, "look for the roster of", place.path, error.details.message.sentence,
                advice: "Fix that first.")
        }
        let current = try RosterAuthority.find(
            group, in: container.root, home: place.home, teamKey: team)?.current()
        // The accepted roster stays in force for any contents of the container.
        if current?.roster?.roster.team == team { return }
        if case .refused(let error) = current?.condition {
            throw VaultError(
                .noRoster, "certify the persons of", place.path,
                "The roster in the container of \(group) is refused, and programs that know a team key require one. "
                    + error.details.message.sentence,
                advice:
                    "If it is the team key's roster: sealctl roster verify --accept \(team). Otherwise put the newest "
                    + "signed roster in its place.")
        }
        throw VaultError(
            .noRoster, "certify the persons of", place.path,
            "\(group) has a container and no roster signed by \(team), and programs that know a team key require one."
        )
    }
}

extension VaultPlace {
    /// The user's memory of the group's roster; `nil` for an access group that is no app group.
    var rosterMemory: RosterMemory? {
        (try? AppGroup(accessGroup.identifier)).map { RosterMemory(of: $0, in: home) }
    }

    /// Accepts the roster in the group's container if a team key is known: it may name the key's successor, or a later
    /// lowest period. If it cannot be accepted, the last accepted one stays in force.
    ///
    /// - Parameter remembered: The team key that this user remembers of the vault.
    func followRoster(_ remembered: TeamPublicKey?) {
        guard let group = try? AppGroup(accessGroup.identifier),
            teamKey != nil || remembered != nil || rosterMemory?.stamps.isEmpty == false
                || (try? TeamKeySettings.current.teamKey(of: accessGroup)) != nil,
            let container = try? GroupContainer.open(group, in: home, creating: false, entitlements: .unchecked)
        else { return }
        _ = try? RosterAuthority.find(
            group, in: container.root, home: home, teamKey: teamKey, vaultTeamKey: remembered)
    }

    /// - Throws: `VaultError` `.wrongTeamKey` if any source names another team key; as `KnownTeam.keys()`.
    /// - Parameter lostKey: The lost team key that a person replaces; it counts only if the program or the machine
    ///   states it.
    package func requireKnown(_ key: TeamPublicKey, replacing lostKey: TeamPublicKey? = nil) throws(VaultError) {
        var options = VaultOptions()
        options.lostTeamKey = lostKey
        let known = try KnownTeam(place: self, memory: try memory.load(), options).keys().present
        guard known == nil || known == key else { throw .wrongTeamKey(path, given: key, known) }
    }

    /// The team key that has certified the vault's persons, and the state that it certifies. `nil` if this user's
    /// programs have not opened the vault with that key or would refuse it, and for a vault without persons or team
    /// key.
    package var certification: (team: TeamPublicKey, state: VaultFloor)? { certification(replacing: nil) }

    /// Returns the same while a person replaces a lost team key, whether or not the program and the machine state it by
    /// now.
    package func certification(replacing lostKey: TeamPublicKey?) -> (team: TeamPublicKey, state: VaultFloor)? {
        guard let memory = try? memory.load(), memory.team != nil, let directory = try? openDirectory(),
            let files = try? VaultFiles.read(
                self, in: directory, memory: memory,
                team: lostKey == nil ? KnownTeam(place: self, memory: memory) : nil),
            files.register?.team == memory.team, lostKey == nil || memory.team == lostKey,
            let register = files.register, let team = register.team, (try? register.verify(path: path)) != nil
        else { return nil }
        return (team, register.state)
    }
}

extension PlaceMemory {
    /// The team key that the vault named when this user's programs saw it.
    var team: TeamPublicKey? { hasPersons ? teamKey.flatMap(TeamPublicKey.init(bytes:)) : nil }
}

extension VaultError.Code {
    /// The group has records but no roster of the team key, so all of them would be refused.
    public static let noRoster = VaultError.Code(rawValue: "noRoster")
    /// The vault's team key has to certify a new person key, and was not given.
    public static let teamKeyNeeded = VaultError.Code(rawValue: "teamKeyNeeded")
}

extension VaultError {
    static func wrongTeamKey(_ path: String, given: TeamPublicKey, _ required: TeamPublicKey?) -> VaultError {
        VaultError(
            .wrongTeamKey, "certify the persons of", path,
            "The key is \(given)\(required.map { ", and the team key is \($0)" } ?? "").",
            advice: "Give the file of the present team key. If it is lost, a person replaces it: --replaces KEY.")
    }

    /// Returns the error for a vault in a state before the roster's lowest one.
    package static func belowFloor(_ path: String, _ state: VaultFloor, _ lowest: VaultFloor) -> VaultError {
        VaultError(
            .rolledBack, "open the vault", path,
            state.period < lowest.period
                ? "Its period is \(state.period); the group's roster accepts none below \(lowest.period)."
                : "The period of its person key is \(state.keyPeriod); the group's roster accepts none below "
                    + "\(lowest.keyPeriod). That is the state of a vault that was continued from an old copy.",
            advice: "Restore the newest copy. For a vault that was created again on purpose the holder of the team key "
                + "lowers the period: sealctl roster sign --lowest-period.")
    }
}

/// The team key that the machine's administrator states for a group: `/etc/sealedstate/<group>.team`, a line
/// `sealedteam1…`. Empty lines and lines that begin with `#` are skipped.
package struct TeamKeySettings: Sendable {
    /// The directory of the files.
    package let directory: String

    package init(directory: String) { self.directory = directory }

    /// The system's settings; tests replace them for the length of a call.
    @TaskLocal package static var current = TeamKeySettings(directory: "/etc/sealedstate")

    private static let maximumSize = 4096

    /// Returns the path of a group's file.
    package func path(of group: AccessGroup) -> String { "\(directory)/\(group.identifier).team" }

    /// Returns the key that the file states; `nil` only if the file does not exist.
    ///
    /// - Throws: `VaultError` `.unsafeFile` for a file that users other than root and this one may change,
    ///   `.malformedKey`, `.file`.
    package func teamKey(of group: AccessGroup) throws(VaultError) -> TeamPublicKey? {
        let path = path(of: group)
        // The usual case, at the cost of one system call.
        if access(path, F_OK) != 0 && errno == ENOENT { return nil }
        let bytes: [UInt8]
        do throws(FileError) {
            let directory = try Directory.open(FilePath(directory))
            let leaf = "\(group.identifier).team"
            let facts = try directory.attributes(leaf)
            guard facts.uid == 0 || facts.uid == geteuid(), facts.mode & (S_IWGRP | S_IWOTH) == 0 else {
                throw FileError(
                    .unsafeMode, operation: "trust", path: path,
                    advice: "Make root its owner and only writer: chown 0 and chmod 644 \(path.shellQuoted)")
            }
            bytes = try directory.read(leaf, limit: Self.maximumSize)
        } catch {
            throw VaultError(error, "read the team key", role: .input)
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { $0.trimmingBlanks }
        let keys = lines.filter { !$0.isEmpty && !$0.hasPrefix("#") }
        guard keys.count == 1, let text = keys.first else {
            throw VaultError(
                .malformedKey, "read the team key", path, "It contains \(keys.count) keys; one is expected.",
                advice: "Write one line: sealedteam1 and 58 characters.")
        }
        return try TeamPublicKey(String(text))
    }
}

extension Substring {
    fileprivate var trimmingBlanks: Substring {
        var text = drop { $0 == " " || $0 == "\t" || $0 == "\r" }
        while let last = text.last, last == " " || last == "\t" || last == "\r" { text.removeLast() }
        return text
    }
}
