import FoundationEssentials
import TestSupport

/// An error as `--json` writes it.
struct MachineError: Decodable {
    let code: String
    let message: String
    let hint: String
}

/// A warning as `--json` writes it.
struct MachineWarning: Decodable {
    let warning: String
    let message: String
    let hint: String
}

/// What `init --json` answers, as far as these tests look.
struct MachineInit: Decodable {
    struct SetAside: Decodable {
        let from: String
        let to: String
    }
    let container: String
    let made: [String]
    let abandoned: [SetAside]
}

/// What `put --json` answers.
struct MachineSequence: Decodable {
    let name: String
    let sequence: UInt64
}

/// A line of `list --json`.
struct MachineRecord: Decodable {
    let name: String
    let schemaVersion: Int?
    let sequence: UInt64?
    let sealedAt: String?
    let notAfter: String?
    let size: Int?
    let state: String
    let reason: String?
}

/// What `inspect --json` answers.
struct MachineInspection: Decodable {
    let kind: String
    let name: String?
    let group: String?
    let keyID: String
    let schemaVersion: Int
    let sequence: UInt64
    let deleted: Bool
    let verdict: String
    let reason: String?
    let freshness: String
    let payload: [String: Int]?
}

/// What `audit --json` answers, as far as these tests look.
struct MachineAudit: Decodable {
    struct Finding: Decodable { let id: String }
    let isClean: Bool
    let withKeys: Bool
    let findings: [Finding]
}

func decode<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) throws -> Value {
    try JSONDecoder().decode(type, from: Data(bytes))
}
