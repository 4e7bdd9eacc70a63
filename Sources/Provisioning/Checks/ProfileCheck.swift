internal import PropertyLists

/// Compares programs with the profiles that belong to them.
struct ProfileCheck {
    let programs: [SignedProgram]
    let profiles: [(path: String, profile: ProvisioningProfile)]
    let date: PropertyListDate

    func run(_ findings: inout FindingCollector) {
        for (path, profile) in profiles {
            let named = programs.filter { $0.profile == profile.name || $0.profile == profile.uuid }
            let fitting = named.isEmpty ? programs.filter { fits($0, profile) } : named
            if fitting.isEmpty {
                report(profile.problems(at: date), nil, path, profile, &findings)
                findings.add(
                    .profileUnused, path: path, subject: profile.name,
                    "No target belongs to the profile \(profile.name) (\(profile.applicationIdentifier ?? "no App ID"))."
                )
            }
            for program in fitting {
                report(profile.problems(at: date, for: target(program)), program, path, profile, &findings)
            }
        }
    }

    private func fits(_ program: SignedProgram, _ profile: ProvisioningProfile) -> Bool {
        guard let identifier = program.bundleIdentifier, let allowed = profile.applicationIdentifier,
            let dot = allowed.firstIndex(of: "."), allowed[dot...] != ".*"
        else { return false }
        return Wildcard.matches(identifier, String(allowed[allowed.index(after: dot)...]))
    }

    private func target(_ program: SignedProgram) -> ProfileTarget {
        // References that were not expanded, and a team that is not known, stand for anything.
        let texts = { (held: [HeldIdentifier]) in
            held.filter { $0.isExpanded && !$0.text.contains(BuildSettings.unknownTeam) }.map(\.text)
        }
        return ProfileTarget(
            bundleIdentifier: program.bundleIdentifier, teamIdentifier: program.team,
            applicationGroups: texts(program.groups), keychainAccessGroups: texts(program.accessGroups),
            keyValueStoreIdentifier: texts([program.keyValueStore].compactMap { $0 }).first)
    }

    private func report(
        _ problems: [ProfileProblem], _ program: SignedProgram?, _ path: String, _ profile: ProvisioningProfile,
        _ findings: inout FindingCollector
    ) {
        for problem in problems {
            guard let rule = Self.rules[problem.code] else { continue }
            // What is wrong with the profile itself is said once, not for each target.
            let isOfProfile = Self.codesOfProfiles.contains(problem.code)
            let owner = isOfProfile ? nil : program
            let line = program?.groups.first { $0.text == problem.subject }?.line
            let isInEntitlements = problem.code == .groupAbsent || problem.code == .accessGroupAbsent
            findings.add(
                rule, problem.code == .noValidCertificate ? .error : nil, of: owner,
                path: isInEntitlements ? program?.path : path, line: isInEntitlements ? line : nil,
                subject: problem.subject,
                owner.map { "\($0.name), profile \(profile.name): \(problem.reason)" }
                    ?? "Profile \(profile.name): \(problem.reason)",
                remedy: problem.advice)
        }
    }

    private static let codesOfProfiles: Set<ProfileProblem.Code> = [
        .expired, .notYetValid, .certificateExpired, .noValidCertificate,
    ]

    private static let rules: [ProfileProblem.Code: ProjectRule] = [
        .groupAbsent: .groupNotInProfile, .accessGroupAbsent: .accessGroupNotInProfile,
        .keyValueStoreAbsent: .keyValueStoreNotInProfile, .expired: .profileExpired,
        .notYetValid: .profileNotYetValid, .wrongTeam: .profileOfOtherTeam, .wrongApplication: .profileOfOtherApp,
        .certificateExpired: .profileCertificate, .noValidCertificate: .profileCertificate,
    ]
}
