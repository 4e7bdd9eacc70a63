/// Registries of packages and images.
enum PackageRules {
    private static func rule(_ id: String, _ name: String, _ place: String) -> SecretRule {
        SecretRule(
            id: id, title: name,
            meaning: "Whoever reads it can publish in its owner's name: what is published runs on others' machines.",
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
