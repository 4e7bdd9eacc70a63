internal import PropertyLists

/// Compares programs with their profiles.
struct ProfileCheck {
    let programs: [SignedProgram]
    let profiles: [(path: String, profile: ProvisioningProfile)]
    let date: PropertyListDate

    func run(_ findings: inout FindingCollector) {
        for (path, profile) in profiles {
            let fitting = programs.filter { belongs($0, to: profile) }
            if fitting.isEmpty {
                report(profile.problems(at: date), nil, path, profile, &findings)
                let facts = [profile.applicationIdentifier ?? "no App ID"] + profile.platforms
                findings.add(
                    .profileUnused, path: path, subject: profile.name,
                    "No target belongs to the profile \(profile.name) (\(facts.joined(separator: ", ")))."
                )
            }
            for program in fitting {
                report(profile.problems(at: date, for: target(program, profile)), program, path, profile, &findings)
            }
        }
    }

    /// Returns whether a program belongs to a profile. A program that names a profile belongs only to it, even if
    /// others would cover it.
    private func belongs(_ program: SignedProgram, to profile: ProvisioningProfile) -> Bool {
        guard profile.covers(program.platform) else { return false }
        if let named = program.profile { return profile.isNamed(named) }
        // The App ID of a whole team identifies no program.
        guard let identifier = program.bundleIdentifier, let allowed = profile.bundleIdentifier, allowed != "*" else {
            return false
        }
        return WildcardIdentifier(allowed).matches(identifier)
    }

    private func target(_ program: SignedProgram, _ profile: ProvisioningProfile) -> ProfileTarget {
        let texts = { (held: [HeldIdentifier]) in held.compactMap { Self.text($0, profile) } }
        return ProfileTarget(
            bundleIdentifier: program.bundleIdentifier, teamIdentifier: program.team,
            applicationGroups: texts(program.groups), keychainAccessGroups: texts(program.accessGroups),
            keyValueStoreIdentifier: texts([program.keyValueStore].compactMap { $0 }).first)
    }

    /// Returns the identifier as signed with the profile, whose team replaces an unknown one. Returns `nil` if
    /// unresolved references remain.
    private static func text(_ held: HeldIdentifier, _ profile: ProvisioningProfile) -> String? {
        guard held.isExpanded else { return nil }
        let parts = held.text.split(separator: BuildSettings.unknownTeam, omittingEmptySubsequences: false)
        if parts.count == 1 { return held.text }
        return profile.prefix.map { parts.joined(separator: $0) }
    }

    private func report(
        _ problems: [ProfileProblem], _ program: SignedProgram?, _ path: String, _ profile: ProvisioningProfile,
        _ findings: inout FindingCollector
    ) {
        for problem in problems {
            guard let rule = Self.rules[problem.code] else { continue }
            // A problem of the profile itself is reported once, not for each target.
            let isOfProfile = Self.codesOfProfiles.contains(problem.code)
            let owner = isOfProfile ? nil : program
            let held = (program?.groups ?? []) + (program?.accessGroups ?? [])
            let line = held.first { Self.text($0, profile) == problem.subject }?.line
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
        .expired, .notYetValid, .certificateExpired, .noValidCertificate, .signatureRefused,
    ]

    /// The rules by problem. Debugging has no rule, because a project's files do not show whether it is wanted.
    static let rules: [ProfileProblem.Code: ProjectRule] = [
        .groupAbsent: .groupNotInProfile, .accessGroupAbsent: .accessGroupNotInProfile,
        .keyValueStoreAbsent: .keyValueStoreNotInProfile, .expired: .profileExpired,
        .notYetValid: .profileNotYetValid, .wrongTeam: .profileOfOtherTeam, .wrongApplication: .profileOfOtherApp,
        .certificateExpired: .profileCertificate, .noValidCertificate: .profileCertificate,
        .signatureRefused: .profileSignature,
    ]
}

extension ProvisioningProfile {
    /// Returns whether the profile is for a platform. An unknown platform may be any. Watch apps are signed with iOS
    /// profiles.
    fileprivate func covers(_ platform: BuildPlatform?) -> Bool {
        guard let platform, !platforms.isEmpty else { return true }
        let names: Set<String> =
            switch platform {
            case .iOS: ["iOS"]
            case .macOS, .macCatalyst: ["OSX"]
            case .watchOS: ["iOS", "watchOS"]
            case .tvOS: ["tvOS"]
            case .visionOS: ["iOS", "xrOS", "visionOS"]
            }
        return !names.isDisjoint(with: platforms)
    }

    /// Returns whether a project refers to the profile by its name, with or without the team's identifier, or by its
    /// UUID.
    fileprivate func isNamed(_ text: String) -> Bool {
        text == name || text == uuid || teamIdentifiers.contains { text == "\($0)/\(name)" }
    }

    /// The prefix in `$(AppIdentifierPrefix)` and `$(TeamIdentifierPrefix)`; the same for all but old accounts.
    fileprivate var prefix: String? { applicationIdentifierPrefixes.first ?? teamIdentifiers.first }
}
