internal import ContentDecoding

/// Unsealed security switches, which every writer of the file can change.
///
/// Each name gives one hit per file: a column of a million rows is one switch.
struct SwitchInspector: ValueInspector {
    private var verdicts: [UInt64: SecuritySwitch?] = [:]
    private var reported: Set<SecuritySwitch.ReportedSwitch> = []
    private let holder: SecretHolder

    /// The limit on names, so that a hostile file cannot exhaust memory.
    private static let mostNames = 4096

    init?(_ subject: AuditSubject, in scope: AuditScope) {
        // No program uses files in quarantine.
        if subject.kind == .quarantined { return nil }
        holder = SecretHolder(subject)
    }

    mutating func inspect(_ leaf: DecodedValue) -> [ContentHit] {
        guard leaf.presence != .freed, let name = leaf.name, let value = Self.flag(leaf.value),
            let known = verdict(on: name)
        else { return [] }
        switch known.meaning {
        case .weakens(let bad):
            return value == bad ? hit(.switchWeakens, known, value, name) : []
        case .decides: return hit(.switchDecides, known, value, name)
        }
    }

    private mutating func hit(
        _ check: AuditCheck, _ known: SecuritySwitch, _ value: Bool, _ name: UnsafeRawBufferPointer
    ) -> [ContentHit] {
        guard reported.insert(SecuritySwitch.ReportedSwitch(name: Self.hash(name), check: check.id)).inserted else {
            return []
        }
        let text = String(decoding: name, as: UTF8.self)
        let detail = check == .switchWeakens ? "\"\(text)\" is \(value ? "on" : "off")." : "\"\(text)\" is not sealed."
        return [
            ContentHit(
                check: check, severity: known.severity, confidence: .likely, detail: detail, remedy: remedy(check))
        ]
    }

    /// Returns a remedy for cases in which sealing the file itself does not help, or `nil` for other cases.
    private func remedy(_ check: AuditCheck) -> String? {
        let isOff = check == .switchWeakens
        switch holder {
        case .preferences:
            return (isOff ? "Set it to its safe value, and remove such switches from released programs. " : "")
                + holder.remedy
        case .database, .databaseLog:
            return isOff
                ? "Set it to its safe value, and remove such switches from released programs."
                : "Keep it in a sealed record or suite instead, where a change is detected."
        default: return nil
        }
    }

    private mutating func verdict(on name: UnsafeRawBufferPointer) -> SecuritySwitch? {
        let hash = Self.hash(name)
        if let known = verdicts[hash] { return known }
        let found = SecuritySwitch.named(name)
        if verdicts.count < Self.mostNames { verdicts[hash] = .some(found) }
        return found
    }

    /// Returns the FNV-1a hash of a name. Names are short, and a collision costs a finding at worst.
    private static func hash(_ name: UnsafeRawBufferPointer) -> UInt64 {
        name.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// Returns the state of a value that can be on or off: true and false, 1 and 0, and their words.
    static func flag(_ value: DecodedValue.Value) -> Bool? {
        switch value {
        case .flag(let flag): flag
        case .number(let number): number == 1 ? true : number == 0 ? false : nil
        case .text(let text): text.count <= 5 ? words[String(decoding: text, as: UTF8.self).lowercased()] : nil
        case .data, .block, .strings: nil
        }
    }

    private static let words = [
        "true": true, "yes": true, "on": true, "1": true, "false": false, "no": false, "off": false, "0": false,
    ]
}

extension SecuritySwitch {
    /// A reported switch, so that each is reported once.
    struct ReportedSwitch: Hashable {
        let name: UInt64
        let check: String
    }
}
