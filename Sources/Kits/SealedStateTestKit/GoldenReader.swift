internal import CryptoPrimitives
internal import FoundationEssentials
internal import SealedState
internal import Sealing

/// Reads golden records as a store would, and reports faults.
struct GoldenReader {
    let record: String
    let options: StoreOptions

    /// Returns an example's payload, which must be readable.
    func payload<Record: SealedRecord>(of example: Record) throws(GoldenFault) -> [UInt8] {
        let payload: [UInt8]
        do {
            payload = Array(
                try PayloadCoding.encode(example, as: Record.format.codec, limits: options.structureLimits))
        } catch {
            throw GoldenFault(
                .badExample, record, Record.schemaVersion, "The example does not encode: \(error)",
                advice: "Use an example that can be written.")
        }
        do throws(StoreError) {
            let _: Record = try value(payload, Record.format.codec, Record.schemaVersion)
        } catch {
            throw GoldenFault(
                .badExample, record, Record.schemaVersion, error.description,
                advice: "Use an example that can be read back.", cause: error)
        }
        return payload
    }

    /// Checks that a golden record is read, or refused as too old or too new if its version is.
    func check<Record: SealedRecord>(
        _ file: GoldenFile, _ isExpected: (Int, Record) -> Bool?
    ) throws(GoldenFault) {
        let value: Record
        do throws(StoreError) {
            value = try self.value(file.payload, file.codec, file.version)
        } catch {
            if file.version > Record.schemaVersion && error.code == .tooNew { return }
            if file.version < Record.oldestReadableVersion && error.code == .tooOld { return }
            throw refused(error, file.version, Record.self)
        }
        guard let isExpected = isExpected(file.version, value) else {
            throw GoldenFault(
                .noExpectedValue, record, file.version,
                "It can be read, but the test does not state the expected value.",
                advice: "State it: older: [\(file.version): ...].")
        }
        if isExpected { return }
        throw GoldenFault(
            .unexpectedValue, record, file.version, "It is read as another value than expected.",
            advice: file.version == Record.schemaVersion
                ? "If only the example has changed, restore the recorded value; otherwise restore the field's "
                    + "meaning, or raise schemaVersion and add a step from \(file.version)."
                : "Correct the step from version \(file.version), or the value that the test expects.")
    }

    /// Throws if the example's shape differs from the recorded one, because other programs of the same version read it.
    func compareShapes(of example: some SealedRecord, with file: GoldenFile) throws(GoldenFault) {
        let codec = type(of: example).format.codec
        let written = try value(in: payload(of: example), codec, file.version)
        let golden = try value(in: file.payload, file.codec, file.version)
        // Dates and bytes are texts in one codec. A change of codec is not a change of shape.
        let today = PayloadShape(written, isPlain: codec != file.codec)
        let recorded = PayloadShape(golden, isPlain: codec != file.codec)
        guard today != recorded else { return }
        throw GoldenFault(
            .shapeChanged, record, file.version,
            "The example is written in another shape than the recorded one: \(recorded.difference(to: today)).",
            advice: "Raise schemaVersion to \(file.version + 1), add a step from \(file.version), and record the new "
                + "version; or, if only the example has changed, fill it as before.")
    }

    func missing<Record: SealedRecord>(
        _ version: Int, _ type: Record.Type, _ folder: GoldenFolder
    ) -> GoldenFault {
        let isCurrent = version == type.schemaVersion
        return GoldenFault(
            .missing, record, version, "\(folder.path(of: version)) does not exist.",
            advice: isCurrent
                ? "Record it once: run the tests with SEALED_RECORD_GOLDEN=1, and commit the file."
                : "Record it with the sources that wrote version \(version), or raise oldestReadableVersion.")
    }

    private func refused<Record: SealedRecord>(
        _ error: StoreError, _ version: Int, _ type: Record.Type
    ) -> GoldenFault {
        GoldenFault(
            .refused, record, version, "The present type refuses it: \(error.code.rawValue): \(error.reason)",
            advice: version == type.schemaVersion
                ? Self.advice(onPresent: error, version)
                : Self.advice(onOlder: error, version, hasStep: type.migrations.hasStep(from: version)),
            cause: error)
    }

    private static func advice(onPresent error: StoreError, _ version: Int) -> String {
        switch error.code {
        case .invalid:
            "A rule refuses values that exist: loosen it, or raise schemaVersion and add a step from \(version) that "
                + "corrects them."
        case .undecodable:
            "You changed the shape without raising schemaVersion: raise it and add a step from \(version)."
        default: error.advice
        }
    }

    private static func advice(onOlder error: StoreError, _ version: Int, hasStep: Bool) -> String {
        switch (error.code, hasStep) {
        case (.migrationFailed, _) where error.advice == error.code.defaultAdvice:
            "Correct the step, or raise oldestReadableVersion to drop version \(version)."
        case (.undecodable, true): "Give the step from version \(version) the type that was written then."
        case (.invalid, true): "Let the steps from version \(version) on produce a value that satisfies the rules."
        case (.undecodable, false), (.invalid, false):
            "Add a step from version \(version), or raise oldestReadableVersion to drop it."
        // For steps with a gap, the advice names the missing one.
        default: error.advice
        }
    }

    private func value(
        in payload: [UInt8], _ codec: PayloadCodec, _ version: Int
    ) throws(GoldenFault) -> PayloadValue {
        do {
            return try payload.withRawBytes { bytes in
                try PayloadCoding.decode(
                    PayloadValue.self, from: bytes, codec: codec, limits: options.structureLimits)
            }
        } catch {
            throw GoldenFault(
                .damaged, record, version, "Its payload does not decode: \(error)", advice: "See the reason.")
        }
    }

    private func value<Record: SealedRecord>(
        _ payload: [UInt8], _ codec: PayloadCodec, _ version: Int
    ) throws(StoreError) -> Record {
        try payload.withRawBytes { bytes throws(StoreError) in
            try RecordDecoding(
                bytes: bytes, codec: codec, schemaVersion: version, limits: options.structureLimits, name: record
            ).checkedValue(of: Record.self)
        }
    }
}
