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

/// The parts of the output of `init --json` that these tests read.
struct MachineInit: Decodable {
    struct SetAside: Decodable {
        let from: String
        let to: String
    }
    let container: String
    let made: [String]
    let abandoned: [SetAside]
}

/// The output of `put --json`.
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

/// The output of `inspect --json`.
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

/// The parts of the output of `audit --json` that these tests read.
struct MachineAudit: Decodable {
    struct Finding: Decodable { let id: String }
    let isClean: Bool
    let withKeys: Bool
    let findings: [Finding]
}

func decode<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) throws -> Value {
    try JSONDecoder().decode(type, from: Data(bytes))
}
