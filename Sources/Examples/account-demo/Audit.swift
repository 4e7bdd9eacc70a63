internal import FoundationEssentials

/// What `sealctl audit --json` says, as far as the demo looks at it.
struct Audit: Decodable {
    struct Finding: Decodable {
        let id: String
        let severity: String
        let path: String
        let title: String

        /// As the timeline shows it.
        var utterance: Utterance {
            Utterance(.audit, "named", detail: id, text: "\(title.lowercasingFirst) (\(severity)): \(shortPath)")
        }

        /// The file and its directory.
        private var shortPath: String { path.split(separator: "/").suffix(2).joined(separator: "/") }
    }

    let findings: [Finding]
    /// Whether nothing has to be mended; `sealctl audit` ends with 0 then, else with 1.
    let isClean: Bool

    /// - Throws: `Stop` `.broken` when it is not what sealctl prints.
    init(json: [String]) throws(Stop) {
        do {
            self = try JSONDecoder().decode(Audit.self, from: Data(json.joined(separator: "\n").utf8))
        } catch {
            throw .broken("sealctl audit --json printed no report")
        }
    }

    /// What was found about the shared record.
    var ofRecord: [Finding] { findings.filter { $0.path == RecordFile.place } }

    /// What was found elsewhere than among the copies of refused files.
    var outsideQuarantine: [Finding] { findings.filter { !$0.path.hasPrefix("Quarantine/") } }
}

extension String {
    fileprivate var lowercasingFirst: String { prefix(1).lowercased() + dropFirst() }
}
