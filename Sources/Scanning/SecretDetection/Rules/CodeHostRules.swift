/// Rules for hosts of source code and its builds.
enum CodeHostRules {
    private static let gitHub = SecretRule(
        id: "token.github", title: "A GitHub token",
        meaning: "An attacker who reads it can act as its owner on GitHub.",
        remedy: "Delete it in GitHub's developer settings.", weight: .critical)
    private static let gitLab = SecretRule(
        id: "token.gitlab", title: "A GitLab token",
        meaning: "An attacker who reads it can act as its owner, or as a runner, on GitLab.",
        remedy: "Revoke it in GitLab's access tokens.", weight: .critical)
    private static let bitbucket = SecretRule(
        id: "token.bitbucket", title: "A Bitbucket app password",
        meaning: "An attacker who reads it can act as its owner on Bitbucket.",
        remedy: "Revoke it in Bitbucket's settings.", weight: .high)
    private static let atlassian = SecretRule(
        id: "token.atlassian", title: "An Atlassian token",
        meaning: "An attacker who reads it can act as its owner in Jira and Confluence.",
        remedy: "Revoke it in the Atlassian account's security settings.", weight: .high)
    private static let artifactory = SecretRule(
        id: "token.artifactory", title: "An Artifactory key",
        meaning: "An attacker who reads it can read and publish artefacts.",
        remedy: "Revoke it in the JFrog platform.", weight: .high)
    private static let sourcegraph = SecretRule(
        id: "token.sourcegraph", title: "A Sourcegraph token",
        meaning: "An attacker who reads it can read the code that its owner can.",
        remedy: "Delete it in Sourcegraph's settings.", weight: .high)
    private static let terraform = SecretRule(
        id: "token.terraform", title: "A Terraform token",
        meaning: "An attacker who reads it can change infrastructure.",
        remedy: "Revoke it in HCP Terraform's settings.", weight: .critical)
    private static let pulumi = SecretRule(
        id: "token.pulumi", title: "A Pulumi token", meaning: "An attacker who reads it can change infrastructure.",
        remedy: "Revoke it in Pulumi Cloud's settings.", weight: .high)
    private static let doppler = SecretRule(
        id: "token.doppler", title: "A Doppler token", meaning: "An attacker who reads it can read a store of secrets.",
        remedy: "Revoke it in Doppler's dashboard.", weight: .critical)
    private static let vault = SecretRule(
        id: "token.vault", title: "A HashiCorp Vault token",
        meaning: "An attacker who reads it can read a store of secrets.",
        remedy: "Revoke it with `vault token revoke`.", weight: .critical)
    private static let onePassword = SecretRule(
        id: "token.1password", title: "A 1Password secret key or service token",
        meaning: "An attacker who reads it has one of the two keys to a store of passwords, or reads it at once.",
        remedy: "Regenerate it in 1Password.", weight: .critical)
    private static let linear = SecretRule(
        id: "token.linear", title: "A Linear key", meaning: "An attacker who reads it can act as its owner in Linear.",
        remedy: "Revoke it in Linear's settings.", weight: .high)

    static let detectors: [Detector] =
        Detector.tokens(
            gitHub, TokenShape("ghp_", .run(.alphanumeric, 36)), TokenShape("gho_", .run(.alphanumeric, 36)),
            TokenShape("ghu_", .run(.alphanumeric, 36)), TokenShape("ghs_", .run(.alphanumeric, 36)),
            TokenShape("ghr_", .run(.alphanumeric, 36...76)), check: ChecksummedToken.judge)
        + Detector.tokens(
            gitHub, TokenShape("github_pat_", .run(.alphanumeric, 22), .text("_"), .run(.alphanumeric, 59)))
        + Detector.tokens(
            gitLab, TokenShape("glpat-", .run(.dotted, 20...300)), TokenShape("gldt-", .run(.base64url, 20...64)),
            TokenShape("glrt-", .run(.dotted, 20...300)), TokenShape("glptt-", .run(.lowerHex, 40)),
            TokenShape("glcbt-", .run(.base64url, 20...64)), TokenShape("glft-", .run(.base64url, 20...64)),
            TokenShape("glsoat-", .run(.base64url, 20...64)), TokenShape("glimt-", .run(.base64url, 25...64)),
            TokenShape("gloas-", .run(.base64url, 64)), TokenShape("glagent-", .run(.base64url, 50...128)),
            TokenShape("glffct-", .run(.base64url, 20...64)), TokenShape("GR1348941", .run(.base64url, 20...50)))
        + Detector.tokens(bitbucket, TokenShape("ATBB", .run(.alphanumeric, 28...32)).with { $0.entropy = 3.3 })
        + Detector.tokens(
            atlassian, TokenShape("ATATT3", .run(.dotted, 60...256)), TokenShape("ATCTT3", .run(.dotted, 60...256)))
        + Detector.tokens(
            artifactory, TokenShape("AKCp", .run(.alphanumeric, 60...72)),
            TokenShape("cmVmdGtu", .run(.alphanumeric, 50...60)).with { $0.entropy = 3.5 })
        + Detector.tokens(
            sourcegraph,
            TokenShape("sgp_", .run(.alphanumeric, 5...40), .optional([.text("_"), .run(.hex, 40)])).with {
                $0.entropy = 3
            }
        ) { text, draft in draft.range.count >= 44 ? draft : nil }
        + Detector.tokens(
            terraform,
            TokenShape(".atlasv1.", .run(.dotted, 60...70)).with {
                $0.before = (.alphanumeric, 14...14); $0.left = .alphanumeric
            })
        + Detector.tokens(pulumi, TokenShape("pul-", .run(.lowerHex, 40)))
        + Detector.tokens(
            doppler, TokenShape("dp.pt.", .run(.alphanumeric, 40...44)), TokenShape("dp.st.", .run(.dotted, 40...80)),
            TokenShape("dp.sa.", .run(.alphanumeric, 40...44)), TokenShape("dp.ct.", .run(.alphanumeric, 40...44)))
        + Detector.tokens(
            vault, TokenShape("hvs.", .run(.base64url, 24...200)), TokenShape("hvb.", .run(.base64url, 100...400)),
            TokenShape("hvr.", .run(.base64url, 24...200)))
        + Detector.tokens(
            onePassword,
            TokenShape("A3-", .run(.upperAlphanumeric, 6), .text("-"), .run(.upperDashed, 23...24)).with {
                $0.entropy = 3.2
            },
            TokenShape("ops_eyJ", .run(.base64, 200...2048), .run(.equals, 0...3)))
        + Detector.tokens(
            linear, TokenShape("lin_api_", .run(.alphanumeric, 40)),
            TokenShape("lin_oauth_", .run(.alphanumeric, 40...64)))
}

extension ByteClass {
    fileprivate static let upperDashed = ByteClass.upperAlphanumeric + ByteClass("-")
}

/// Rules for package and image registries.
enum PackageRules {
    private static func rule(_ id: String, _ name: String, _ place: String) -> SecretRule {
        SecretRule(
            id: id, title: name,
            meaning:
                "An attacker who reads it can publish in its owner's name. Published code runs on others' machines.",
            remedy: "Revoke it in \(place).", weight: .critical)
    }

    private static let npm = rule("token.npm", "An npm token", "npm's access tokens")
    private static let pyPI = rule("token.pypi", "A PyPI token", "PyPI's account settings")
    private static let docker = rule("token.docker", "A Docker Hub token", "Docker's security settings")
    private static let rubyGems = rule("token.rubygems", "A RubyGems key", "RubyGems' API keys")
    private static let nuGet = rule("token.nuget", "A NuGet key", "NuGet's API keys")
    private static let crates = rule("token.crates-io", "A crates.io token", "crates.io's API tokens")
    private static let clojars = rule("token.clojars", "A Clojars token", "Clojars' deploy tokens")

    static let detectors: [Detector] =
        Detector.tokens(npm, TokenShape("npm_", .run(.alphanumeric, 36)), check: ChecksummedToken.judge)
        + Detector.tokens(
            npm,
            TokenShape("_authToken=", .run(.uuid, 36)).with {
                $0.isPrefixSecret = false; $0.left = .alphanumeric; $0.certainty = .likely
            })
        + Detector.tokens(
            pyPI, TokenShape("pypi-AgEIcHlwaS5vcmc", .run(.base64url, 50...1000)),
            TokenShape("pypi-AgENdGVzdC5weXBpLm9yZw", .run(.base64url, 50...1000)))
        + Detector.tokens(
            docker, TokenShape("dckr_pat_", .run(.base64url, 27...40)),
            TokenShape("dckr_oat_", .run(.base64url, 27...64)))
        + Detector.tokens(rubyGems, TokenShape("rubygems_", .run(.lowerHex, 48)))
        + Detector.tokens(
            nuGet,
            TokenShape("oy2", .run(.lowerAlphanumeric, 43)).with {
                $0.left = .anyBase64; $0.entropy = 3.5
            })
        + Detector.tokens(
            crates,
            TokenShape("cio", .run(.alphanumeric, 32)).with {
                $0.left = .anyBase64; $0.entropy = 3.8
            }
        ) {
            text, draft in ByteClass.mixes(text.slice(draft.range)) ? draft : nil
        }
        + Detector.tokens(clojars, TokenShape("CLOJARS_", .run(.lowerAlphanumeric, 60)))
}
