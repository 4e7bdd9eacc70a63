import TestSupport
import Testing

/// Tests that every code of a store ends with a status that was chosen for it.
@Suite struct StoreStatusTests {
    private struct Explained: Decodable {
        let code: String
        let status: Int32
    }

    private static let statuses: [String: Int32] = [
        // The record has no value.
        "absent": 44, "locked": 36,
        // The blob is refused on read.
        "tooLarge": 65, "malformed": 65, "unsupportedFormat": 76, "wrongKind": 65, "wrongGroup": 65, "wrongName": 65,
        "unknownKey": 65, "wrongSuite": 65, "wrongEpoch": 65, "retiredEpoch": 65, "downgraded": 65,
        "wrongCommitment": 65, "tampered": 65,
        "notAuthorized": 77, "rosterBehind": 76, "missing": 44, "replayed": 65, "forked": 65,
        "sequenceJump": 65, "tooOld": 65, "tooNew": 76, "unsafeStructure": 65, "undecodable": 65,
        "migrationFailed": 65, "stale": 69, "notYetValid": 69, "invalid": 65,
        // Writing, leases and watching.
        "unencodable": 65, "invalidName": 64, "conflict": 69, "declined": 65, "invalidCursor": 65, "invalidRange": 64,
        "lockTimeout": 75, "leaseTimeout": 75, "leaseLost": 75, "cancelled": 75, "lockLost": 74, "outcomeUnknown": 74,
        "durabilityUnknown": 74, "noSpace": 74, "quotaExceeded": 74, "readOnly": 74, "file": 74, "watchLimit": 71,
        "permissionDenied": 77,
        // Moving in.
        "sourceUnusable": 66, "sourceMalformed": 65, "sourceChanged": 75, "sourceKept": 74, "verificationFailed": 74,
        "wrongKey": 51, "cipherUnavailable": 71,
        // The group's setup.
        "container": 78, "backendUnknown": 78,
        "containerMissing": 44, "vaultAbsent": 44, "vaultCorrupt": 65, "vaultRolledBack": 65,
        "vaultMissing": 44, "vaultReplaced": 65, "vaultNotAccepted": 69,
        "wrongPassphrase": 51, "wrongKeyFile": 51, "orphanedBlobs": 78, "keyInUse": 69, "keyNotFound": 44, "vault": 78,
        "roster": 78,
        "notEntitled": 78, "entitlements": 78,
    ]

    /// Returns the codes that the store declares.
    private static func declared() throws -> Set<String> {
        let files = ["StoreError.swift", "Rejections/FailureTable.swift"]
        let lines = try files.flatMap { try SourceText.read("Sources/Core/SealedState/\($0)").split(separator: "\n") }
        let mark = "Code(rawValue: \""
        return Set(
            lines.filter { $0.contains("public static let ") }.compactMap { line in
                line.firstRange(of: mark).map { String(line[$0.upperBound...].prefix { $0 != "\"" }) }
            })
    }

    @Test func everyCodeOfTheStoreIsHere() throws {
        #expect(try Self.declared() == Set(Self.statuses.keys))
    }

    @Test(arguments: statuses.keys.sorted())
    func aCodeHasItsStatus(code: String) throws {
        let result = try Sandbox().sealctl(["explain", code, "--json"], group: "")
        #expect(result.exitCode == 0)
        let explained = try decode(Explained.self, result.output)
        #expect(explained.code == code && explained.status == Self.statuses[code])
    }
}
