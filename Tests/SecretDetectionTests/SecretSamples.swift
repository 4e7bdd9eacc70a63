/// A sample of every rule that detects a form.
enum SecretSamples {
    static let all: [SecretSample] = clouds + hosts + messages + payments + services + tools

    private static let clouds = [
        SecretSample("token.aws", "AKIA{b3216}", not: "AKIAIOSFODNN7EXAMPLE"), SecretSample("token.aws", "ASIA{b3216}"),
        SecretSample("token.aws-bedrock", "ABSK{std120}"), SecretSample("token.google-api-key", "AIza{url35}"),
        SecretSample("token.google-oauth-secret", "GOCSPX-{url28}"),
        SecretSample("token.google-oauth", "ya29.{url120}", not: "ya29.{url12}"),
        SecretSample("token.google-refresh", "1//0{url60}"),
        SecretSample("token.azure-storage", "AccountName=store;AccountKey={std86}==;EndpointSuffix=core.windows.net"),
        SecretSample("token.azure-storage", "SharedAccessKeyName=root;SharedAccessKey={std43}="),
        SecretSample("token.azure-sas", "?sv=2022-11-02&sp=r&se=2030-01-01&sig={an43}%3D", not: "?x=1&sig={an43}%3D"),
        SecretSample("token.azure-client-secret", "{an3}8Q~{an34}", not: "{an3}xQ~{an34}"),
        SecretSample("token.azure-devops", "{an76}AZDO{an4}"), SecretSample("token.digitalocean", "dop_v1_{hex64}"),
        SecretSample("token.digitalocean", "dor_v1_{hex64}"), SecretSample("token.heroku-platform", "HRKU-AA{url58}"),
        SecretSample("token.alibaba", "LTAI{an20}"), SecretSample("token.fly", "fo1_{url43}"),
        SecretSample("token.fly", "fm2_{std160}"),
        SecretSample("token.cloudflare-ca", "v1.0-{hex24}-{hex146}"), SecretSample("token.supabase", "sbp_{hex40}"),
        SecretSample("token.databricks", "dapi{hex32}"), SecretSample("token.planetscale", "pscale_tkn_{url43}"),
        SecretSample("token.twilio", "SK{hex32}", not: "SK{hex31}"),
    ]

    private static let hosts = [
        SecretSample("token.github", "ghp_{an36}", not: "ghp_{an12}"), SecretSample("token.github", "ghs_{an36}"),
        SecretSample("token.github", "github_pat_{an22}_{an59}"), SecretSample("token.gitlab", "glpat-{url20}"),
        SecretSample("token.gitlab", "glrt-{url20}"), SecretSample("token.bitbucket", "ATBB{an32}"),
        SecretSample("token.atlassian", "ATATT3xFfGF0{url180}={uan8}"), SecretSample("token.artifactory", "AKCp{an69}"),
        SecretSample("token.sourcegraph", "sgp_{hex16}_{hex40}"),
        SecretSample("token.terraform", "{an14}.atlasv1.{url66}"),
        SecretSample("token.pulumi", "pul-{hex40}"), SecretSample("token.doppler", "dp.pt.{an43}"),
        SecretSample("token.vault", "hvs.{url95}"),
        SecretSample("token.1password", "A3-{uan6}-{uan6}-{uan5}-{uan5}-{uan5}"),
        SecretSample("token.linear", "lin_api_{an40}"),
        SecretSample("token.npm", "npm_{an36}"), SecretSample("token.pypi", "pypi-AgEIcHlwaS5vcmc{url130}"),
        SecretSample("token.docker", "dckr_pat_{url27}"), SecretSample("token.rubygems", "rubygems_{hex48}"),
        SecretSample("token.nuget", "oy2{lan43}"), SecretSample("token.crates-io", "cio{an32}"),
        SecretSample("token.clojars", "CLOJARS_{lan60}"),
    ]

    private static let messages = [
        SecretSample("token.slack", "xoxb-{dig12}-{dig12}-{an24}"),
        SecretSample("token.slack", "xoxp-{dig12}-{dig12}-{dig12}-{hex32}"),
        SecretSample("token.slack", "xapp-1-{uan11}-{dig13}-{hex64}"),
        SecretSample("token.slack-webhook", "https://hooks.slack.com/services/T{uan8}/B{uan10}/{an24}"),
        SecretSample(
            "token.teams-webhook",
            "https://team.webhook.office.com/webhookb2/{hex8}-{hex4}-{hex4}-{hex4}-{hex12}@{hex8}-{hex4}-{hex4}-{hex4}-{hex12}/IncomingWebhook/{hex32}"
        ),
        SecretSample(
            "token.discord", "MTA4{b320}NTY3ODkwMTIzNDU2Nzg.{url6}.{url38}", not: "MTA4NTY3ODkw.{url6}.{url38}"),
        SecretSample("token.discord-webhook", "https://discord.com/api/webhooks/{dig18}/{url68}"),
        SecretSample("token.telegram", "4{dig9}:AA{url33}", not: "4{dig9}:AB{url33}"),
        SecretSample("token.sendgrid", "SG.{url22}.{url43}"),
        SecretSample("token.mailgun", "key-{hex32}"), SecretSample("token.mailchimp", "{hex32}-us12"),
        SecretSample("token.mandrill", "md-A7b{url19}"),
        SecretSample("token.brevo", "xkeysib-{hex64}-{an16}"), SecretSample("token.resend", "re_{an8}_{an24}"),
    ]

    private static let payments = [
        SecretSample("token.stripe", "sk_live_{an24}", not: "sk_test_{an24}"),
        SecretSample("token.stripe", "rk_live_{an99}", not: "pk_live_{an99}"),
        SecretSample("token.stripe-webhook", "whsec_{an32}"), SecretSample("token.square", "sq0atp-{url22}"),
        SecretSample("token.square", "sq0csp-{url43}"),
        SecretSample("token.shopify", "shpat_{hex32}"),
        SecretSample("token.braintree", "access_token$production${lan16}${hex32}"),
        SecretSample("token.plaid", "access-production-{hex8}-{hex4}-{hex4}-{hex4}-{hex12}"),
        SecretSample("token.adyen", "AQE{std90}-{std43}"),
        SecretSample("token.flutterwave", "FLWSECK-{lan32}-X"), SecretSample("token.easypost", "EZAK{an54}"),
        SecretSample("token.razorpay", "rzp_live_{an14}"),
    ]

    private static let services = [
        SecretSample("token.openai", "sk-{an20}T3BlbkFJ{an20}"),
        SecretSample("token.openai", "sk-proj-{url74}T3BlbkFJ{url74}"),
        SecretSample("token.anthropic", "sk-ant-api03-{url93}AA"), SecretSample("token.huggingface", "hf_{let34}"),
        SecretSample("token.groq", "gsk_{an52}"),
        SecretSample("token.perplexity", "pplx-{an48}"), SecretSample("token.xai", "xai-{an80}"),
        SecretSample("token.replicate", "r8_{an37}"),
        SecretSample("token.openrouter", "sk-or-v1-{hex64}"), SecretSample("token.facebook", "EAAC{an160}"),
        SecretSample("token.firebase-messaging", "AAAA{url7}:APA91b{url134}"),
        SecretSample("token.mapbox", "sk.eyJ{url80}.{url22}"),
        SecretSample("token.dropbox", "sl.{url140}"), SecretSample("token.twitter", "AAAAAAAAAAAAAAAAAAAAA{an90}"),
        SecretSample("token.contentful", "CFPAT-{url43}"), SecretSample("token.shippo", "shippo_live_{hex40}"),
        SecretSample("token.adobe", "p8e-{url32}"),
        SecretSample("token.typeform", "tfp_{url59}"), SecretSample("token.duffel", "duffel_live_{url43}"),
        SecretSample("token.cloudinary", "cloudinary://{dig15}:{url27}@cloud"),
        SecretSample(
            "header.bearer", "Authorization: Bearer {url43}", not: "Authorization: Bearer authentication-token-required"
        ),
        SecretSample(
            "url.credentials", "postgres://app:{an16}@db.internal:5432/main",
            not: "postgres://user:password@localhost/db"),
        SecretSample(
            "command.password", "curl -u admin:{an12} https://host/", not: "curl -u admin:$PASSWORD https://host/"),
        SecretSample(
            "command.netrc", "machine host login me password {an12}", not: "machine host login me password required"),
    ]

    private static let tools = [
        SecretSample("token.newrelic", "NRAK-{uan27}"),
        SecretSample("token.sentry-dsn", "https://{hex32}@o4711.ingest.sentry.io/1"),
        SecretSample("token.sentry", "sntryu_{hex64}"), SecretSample("token.grafana", "glsa_{an32}_{hex8}"),
        SecretSample("token.postman", "PMAK-{hex24}-{hex34}"),
        SecretSample("token.dynatrace", "dt0c01.{uan24}.{uan64}"), SecretSample("token.notion", "ntn_{dig11}{an35}"),
        SecretSample("token.airtable", "pat{an14}.{hex64}"), SecretSample("token.figma", "figd_{url40}"),
        SecretSample("token.okta", "SSWS 00{url40}"),
        SecretSample("token.prefect", "pnu_{an36}"), SecretSample("token.buildkite", "bkua_{hex40}"),
        SecretSample("token.sonar", "squ_{hex40}"),
        SecretSample("token.launchdarkly", "sdk-{hex8}-{hex4}-{hex4}-{hex4}-{hex12}"),
        SecretSample("token.tailscale", "tskey-auth-{an12}-{an32}"),
        SecretSample("token.openshift", "sha256~{url43}"), SecretSample("token.harness", "pat.{url22}.{an24}.{an20}"),
        SecretSample("token.snyk", "snyk_uat.{hex8}.{url60}"), SecretSample("key.age", "AGE-SECRET-KEY-1{bech58}"),
        SecretSample("key.sealed-identity", "SEALED-SECRET-KEY-1{bech58}"),
        SecretSample("key.sealed-signing-key", "SEALED-WRITER-KEY-1{bech58}"),
        SecretSample("key.sealed-signing-key", "SEALED-TEAM-KEY-1{bech58}"),
        SecretSample("key.sealed-key-file", "sealed-key-1 {hex64}"),
        SecretSample("hash.password", "$2b$12${an53}"),
        SecretSample("hash.password", "$argon2id$v=19$m=65536,t=3,p=4${std22}${std43}"),
        SecretSample("hash.password", "$6$rounds=5000${an12}${an86}"),
        SecretSample("key.private.der", "MC4CAQAwBQYDK2VwBCIEI{std43}"),
        SecretSample("key.pkcs12", "MIIJ{an1}gIBAzCC{std900}"),
        SecretSample(
            "key.jwk", #"{"kty":"EC","crv":"P-256","x":"{url43}","d":"{url43}"}"#,
            not: #"{"kty":"EC","crv":"P-256","x":"{url43}","y":"{url43}"}"#),
        SecretSample(
            "key.pgp", "-----BEGIN PGP PRIVATE KEY BLOCK-----\\n\\n{std400}\\n-----END PGP PRIVATE KEY BLOCK-----"),
        SecretSample(
            "key.private", "-----BEGIN PRIVATE KEY-----\\n{std64}\\n{std64}\\n-----END PRIVATE KEY-----",
            not: "-----BEGIN PUBLIC KEY-----\\n{std64}\\n-----END PUBLIC KEY-----"),
        SecretSample(
            "key.private.encrypted",
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\\n{std64}\\n{std64}\\n-----END ENCRYPTED PRIVATE KEY-----"),
        SecretSample(
            "key.putty",
            "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPublic-Lines: 2\n{std64}\n{std40}\nPrivate-Lines: 1\n{std48}\nPrivate-MAC: {hex64}",
            not: "PuTTY-User-Key-File-3 is a format"),
    ]
}
