internal import AuditReports
internal import SealedState
internal import Sealing
internal import SharedFiles

/// An inspection for people: one field per line, then the payload.
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
    /// Returns `current`, `expired` or `future`. Without a verified header the word depends on the header's claims.
    func freshness(_ now: Timestamp) -> String {
        judgedFreshness
            ?? Freshness.word(
                sealedAt: Timestamp(header.sealedAt), notAfter: header.notAfter == 0 ? nil : Timestamp(header.notAfter),
                now: now)
    }
}

/// An inspection for machines.
struct InspectionJSON {
    let inspection: Inspection
    let now: Timestamp

    var json: JSONText { .object(headerFields + judgementFields) }

    private var headerFields: [(String, JSONText)] {
        let header = inspection.header
        return [
            ("file", .string(inspection.place)), ("size", inspection.size.map { .number(Int($0)) } ?? .null),
            ("format", .number(Int(BlobLayout.format))), ("suite", .number(Int(header.suite.rawValue))),
            ("kind", .string("\(header.kind)")),
            ("name", .optional(inspection.record)), ("nameTag", .string("\(header.nameTag)")),
            ("group", .optional(inspection.group.flatMap { $0.fits ? $0.identifier : nil })),
            ("groupTag", .string("\(header.groupTag)")), ("keyID", .string("\(header.keyID)")),
            ("epoch", .unsigned(UInt64(header.epoch))),
            ("protection", .optional(inspection.protection?.word)),
            ("schemaVersion", .unsigned(UInt64(header.schemaVersion))),
            ("sequence", .unsigned(header.sequence)), ("codec", .string("\(header.codec)")),
            ("deleted", .bool(header.flags.contains(.tombstone))),
            ("unsynced", .bool(header.flags.contains(.unsynced))),
            ("sealedAt", .string(Timestamp(header.sealedAt).rfc3339)),
            ("notAfter", header.notAfter == 0 ? .null : .string(Timestamp(header.notAfter).rfc3339)),
        ]
    }

    private var judgementFields: [(String, JSONText)] {
        let (verdict, reason): (String, String?) =
            switch inspection.verdict {
            case .verified: ("verified", nil)
            case .unverified(let reason): ("unverified", reason)
            case .refused(let failure): ("refused", failure.code)
            }
        let watermark: JSONText =
            inspection.watermark.map {
                .object([("accepted", .string($0.accepted)), ("standing", .string($0.standing))])
            } ?? .null
        return [
            ("verdict", .string(verdict)), ("reason", .optional(reason)), ("watermark", watermark),
            ("freshness", .string(inspection.freshness(now))), ("writer", inspection.writer?.json ?? .null),
            ("payload", inspection.payload.map { .verbatim($0.compact) } ?? .null),
        ]
    }
}

/// The state of a header's times at present, as a word.
enum Freshness {
    /// The largest accepted difference of a time stamp into the future, as in a store, because clocks are stepped now
    /// and then.
    private static let skewMilliseconds: UInt64 = 5000

    /// Compares with the wall clock only. Nothing more can be said of an unverified header.
    static func word(sealedAt: Timestamp, notAfter: Timestamp?, now: Timestamp) -> String {
        if sealedAt.milliseconds > now.milliseconds + skewMilliseconds { return "future" }
        if let notAfter, notAfter <= now { return "expired" }
        return "current"
    }

    /// Judges a verified header as a read does: an expired record stays expired if the clock is set back.
    static func word(of header: BlobHeader, judgedBy store: SealedStore) -> String {
        do throws(StoreError) {
            try store.reader.checkFreshness(of: header, named: store.group.identifier, at: store.options.now())
            return "current"
        } catch {
            return error.code == .notYetValid ? "future" : "expired"
        }
    }
}
