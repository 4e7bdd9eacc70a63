import ContainerAudit
import Foundation
import TestSupport

/// A tree that the generator in `Tests/Support/planting` made.
struct PlantedTree {
    let directory: TemporaryDirectory

    /// A planted secret: the file that holds it, and the ids of the rules that may report it; a star ends a prefix.
    struct Item: Decodable {
        let path: String
        let carrier: String
        let kind: String
        let rules: [String]
    }

    /// Creates every kind of secret in every carrier.
    static func secrets(seed: Int) throws -> PlantedTree { try PlantedTree([], ["\(seed)"]) }

    /// Creates so many megabytes of text that looks secret and is not.
    static func lookAlikes(seed: Int, megabytes: Int) throws -> PlantedTree {
        try PlantedTree(["--look-alikes"], ["\(seed)", "\(megabytes)"])
    }

    private init(_ before: [String], _ after: [String]) throws {
        directory = try TemporaryDirectory()
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Support/planting/plant.py").standardized.path
        let child = try ChildProcess.run(Python.path, ["-B", script] + before + [directory.path] + after)
        guard child.exitCode == 0 else { throw PlantingFailed(message: child.errorText) }
    }

    var items: [Item] {
        get throws {
            let data = try Data(contentsOf: URL(filePath: directory.path("manifest.json")))
            return try JSONDecoder().decode([Item].self, from: data)
        }
    }
}

struct PlantingFailed: Error { let message: String }

extension PlantedTree.Item {
    /// Returns whether the finding is of this file, or of a log beside it, under a rule that may report it.
    func isNamed(by finding: Finding) -> Bool {
        guard finding.path.hasPrefix(path) else { return false }
        return rules.contains { rule in
            rule.hasSuffix("*") ? finding.id.hasPrefix(rule.dropLast()) : finding.id == rule
        }
    }
}
