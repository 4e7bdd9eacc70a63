/// Rules for payments and shops.
enum PaymentRules {
    private static let stripe = SecretRule(
        id: "token.stripe", title: "A Stripe key", meaning: "An attacker who reads it can read and move payments.",
        remedy: "Roll it in Stripe's dashboard.", weight: .critical)
    private static let stripeHook = SecretRule(
        id: "token.stripe-webhook", title: "A Stripe webhook secret",
        meaning: "An attacker who reads it can forge Stripe's messages.",
        remedy: "Roll it at the webhook in Stripe's dashboard.", weight: .high)
    private static let square = SecretRule(
        id: "token.square", title: "A Square credential",
        meaning: "An attacker who reads it can read and move payments.",
        remedy: "Replace it in Square's developer console.", weight: .critical)
    private static let shopify = SecretRule(
        id: "token.shopify", title: "A Shopify token", meaning: "An attacker who reads it can read and change a shop.",
        remedy: "Rotate it in the application's settings.", weight: .high)
    private static let braintree = SecretRule(
        id: "token.braintree", title: "A Braintree access token",
        meaning: "An attacker who reads it can read and move payments.",
        remedy: "Replace it in Braintree's control panel.", weight: .critical)
    private static let plaid = SecretRule(
        id: "token.plaid", title: "A Plaid access token",
        meaning: "An attacker who reads it and has the client's secret can read bank accounts.",
        remedy: "Invalidate it with Plaid's `/item/access_token/invalidate`.", weight: .high)
    private static let adyen = SecretRule(
        id: "token.adyen", title: "An Adyen key", meaning: "An attacker who reads it can read and move payments.",
        remedy: "Generate a new one in Adyen's customer area.", weight: .critical)
    private static let flutterwave = SecretRule(
        id: "token.flutterwave", title: "A Flutterwave key",
        meaning: "An attacker who reads it can read and move payments.",
        remedy: "Replace it in Flutterwave's dashboard.", weight: .critical)
    private static let easyPost = SecretRule(
        id: "token.easypost", title: "An EasyPost key", meaning: "An attacker who reads it can buy postage.",
        remedy: "Delete it in EasyPost's dashboard.", weight: .high)
    private static let razorpay = SecretRule(
        id: "token.razorpay", title: "A Razorpay key",
        meaning: "Together with its secret it can read and move payments.",
        remedy: "Regenerate it in Razorpay's dashboard.", weight: .medium)

    static let detectors: [Detector] =
        Detector.tokens(
            stripe, TokenShape("sk_live_", .run(.alphanumeric, 20...247)),
            TokenShape("rk_live_", .run(.alphanumeric, 20...247)),
            TokenShape("sk_prod_", .run(.alphanumeric, 20...247)))
        + Detector.tokens(
            stripeHook, TokenShape("whsec_", .run(.base64, 24...88), .run(.equals, 0...2)).with { $0.entropy = 3.3 })
        + Detector.tokens(
            square, TokenShape("sq0atp-", .run(.base64url, 22)), TokenShape("sq0csp-", .run(.base64url, 43)),
            TokenShape("sq0idp-", .run(.base64url, 22)).with { $0.certainty = .likely },
            TokenShape("EAAA", .run(.base64url, 56...60)).with { $0.entropy = 4 })
        + ["shpat_", "shpca_", "shppa_", "shpss_", "shprt_"].flatMap {
            Detector.tokens(shopify, TokenShape($0, .run(.hex, 32)))
        }
        + Detector.tokens(
            braintree,
            TokenShape("access_token$production$", .run(.lowerAlphanumeric, 16), .text("$"), .run(.lowerHex, 32)))
        + Detector.tokens(
            plaid, TokenShape("access-production-", .run(.uuid, 36)), TokenShape("access-development-", .run(.uuid, 36))
        )
        + Detector.tokens(
            adyen,
            TokenShape("AQE", .run(.base64, 60...160), .run(.equals, 0...2), .text("-"), .run(.base64, 30...60)).with {
                $0.entropy = 4
            })
        + Detector.tokens(flutterwave, TokenShape("FLWSECK-", .run(.lowerAlphanumeric, 32...48), .text("-X")))
        + Detector.tokens(easyPost, TokenShape("EZAK", .run(.alphanumeric, 54)))
        + Detector.tokens(razorpay, TokenShape("rzp_live_", .run(.alphanumeric, 14)))
}

extension ByteClass {
    static let uuid = ByteClass.hex + ByteClass("-")
}
