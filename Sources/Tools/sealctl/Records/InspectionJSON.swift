internal import Sealing

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
