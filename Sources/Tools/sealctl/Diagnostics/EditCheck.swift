internal import Glibc
internal import SharedFiles

/// Plaintext of edits that met a conflict: kept for the person, who may have forgotten it.
enum EditCheck {
    static func examine() -> [Diagnosis] {
        MemoryPlace.bases.flatMap { base in
            ((try? base.entries()) ?? []).compactMap { entry in
                guard entry.name.hasPrefix(MemoryPlace.keptPrefix), let facts = try? base.attributes(entry.name),
                    facts.kind == .directory, facts.uid == geteuid()
                else { return nil }
                return kept(base.display(entry.name), facts)
            }
        }
    }

    private static func kept(_ path: String, _ facts: FileAttributes) -> Diagnosis {
        let age = Int64(Timestamp.now.milliseconds) / 1000 - facts.modifiedNanoseconds / 1_000_000_000
        return .warn(
            "kept-edit", "\(path) holds the plaintext of an edit that was not sealed, for \(text(age))",
            mend: "Take what you need of it, then remove it: rm -r \(path.shellQuoted)")
    }

    private static func text(_ seconds: Int64) -> String {
        switch seconds {
        case ..<120: "\(max(0, seconds)) seconds"
        case ..<7200: "\(seconds / 60) minutes"
        case ..<172_800: "\(seconds / 3600) hours"
        default: "\(seconds / 86_400) days"
        }
    }
}
