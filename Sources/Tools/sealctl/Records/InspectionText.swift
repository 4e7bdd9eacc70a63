internal import Sealing
internal import SharedFiles

/// An inspection for people: a field a line, then the payload.
struct InspectionText {
    let inspection: Inspection
    let now: Timestamp

    var text: String {
        let width = fields.map(\.0.count).max() ?? 0
        let lines = fields.map { name, value in
            name + String(repeating: " ", count: width - name.count) + "  " + value.printable
        }
        return (lines + (inspection.payload.map { ["", $0.indented] } ?? [])).joined(separator: "\n")
    }

    private var header: BlobHeader { inspection.header }

    private var fields: [(String, String)] {
        let size = inspection.size.map { " (\($0) bytes)" } ?? ""
        return [
            ("file", inspection.place + size), ("format", "1, XChaCha20-Poly1305 + BLAKE2b"), ("kind", kind),
            ("name", name), ("group", group),
            ("key", "\(header.keyID), epoch \(header.epoch)"),
        ] + (inspection.protection.map { [("protected", $0.words)] } ?? [])
            + recordFields + [("sealed", time(header.sealedAt)), ("expires", expiry)] + judgement
    }

    private var name: String {
        inspection.record ?? (inspection.isNameless ? "none" : "unknown, tag \(header.nameTag)")
    }

    private var kind: String { header.flags.contains(.tombstone) ? "\(header.kind), deleted" : "\(header.kind)" }

    private var recordFields: [(String, String)] {
        guard header.kind == .record else { return [] }
        let durability = header.flags.contains(.unsynced) ? "unsynced" : "durable"
        return [
            ("version", "\(header.schemaVersion)"), ("sequence", "\(header.sequence), \(durability)"),
            ("codec", "\(header.codec)"),
        ]
    }

    private var group: String {
        guard let group = inspection.group else { return "unknown, tag \(header.groupTag)" }
        return group.fits ? group.identifier : "not \(group.identifier), tag \(header.groupTag)"
    }

    private func time(_ milliseconds: UInt64) -> String {
        let time = Timestamp(milliseconds)
        return "\(time.short) (\(time.relative(to: now)))"
    }

    private var expiry: String { header.notAfter == 0 ? "never" : time(header.notAfter) }

    private var judgement: [(String, String)] {
        var fields: [(String, String)] = []
        switch inspection.verdict {
        case .verified: fields.append(("verdict", "verified: header and contents are authentic"))
        case .unverified(let reason): fields.append(("verdict", "unverified: \(reason)"))
        case .refused(let failure): fields.append(("verdict", "refused (\(failure.code)): \(failure.message)"))
        }
        if let writer = inspection.writer { fields.append(("writer", writer.text)) }
        if let mark = inspection.watermark { fields.append(("accepted", "\(mark.accepted), \(mark.standing)")) }
        if header.kind == .record { fields.append(("freshness", inspection.freshness(now))) }
        return fields
    }
}

extension Inspection {
    /// `current`, `expired` or `future`; of a header that was not verified by what it says.
    func freshness(_ now: Timestamp) -> String {
        judgedFreshness
            ?? Freshness.word(
                sealedAt: Timestamp(header.sealedAt), notAfter: header.notAfter == 0 ? nil : Timestamp(header.notAfter),
                now: now)
    }
}
