/// A security switch, identified by its name, and the meaning of its values.
struct SecuritySwitch: Sendable, Hashable {
    /// The effect of the switch.
    enum Meaning: Sendable, Hashable {
        /// The switch disables a protection if it has that value.
        case weakens(when: Bool)
        /// Programs base a decision on it, regardless of its value.
        case decides
    }

    let meaning: Meaning
    let severity: Severity
    let references: [String]

    /// Returns the switch with that name, or `nil` for any other name.
    ///
    /// - Parameter name: A key or column, in any spelling: `isJailbroken`, `is_jailbroken`, `ZISJAILBROKEN`.
    static func named(_ name: UnsafeRawBufferPointer) -> SecuritySwitch? {
        guard (4...64).contains(name.count) else { return nil }
        var letters = ""
        for byte in name {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): letters.unicodeScalars.append(Unicode.Scalar(byte | 0x20))
            case UInt8(ascii: "a")...UInt8(ascii: "z"): letters.unicodeScalars.append(Unicode.Scalar(byte))
            case 0x30...0x39: letters.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), 0x20: break
            default: return nil
            }
        }
        return table[letters] ?? core(of: letters[...]).flatMap { table[String($0)] }
    }

    /// Returns the name without insignificant prefixes and suffixes: `isPremium`, `premiumEnabled`, `ZPREMIUM`.
    private static func core(of letters: Substring) -> Substring? {
        let begun = beginnings.first { letters.hasPrefix($0) }.map { letters.dropFirst($0.count) } ?? letters
        let ended = endings.first { begun.hasSuffix($0) }.map { begun.dropLast($0.count) } ?? begun
        return ended.count < letters.count && ended.count >= 4 ? ended : nil
    }

    private static let beginnings = ["zis", "zhas", "is", "has", "user", "use", "app", "k", "z"]
    private static let endings = ["enabled", "active", "isactive", "isenabled", "flag", "user", "on"]

    private static let table: [String: SecuritySwitch] = {
        var table: [String: SecuritySwitch] = [:]
        func add(_ names: String, _ meaning: Meaning, _ severity: Severity, _ references: [String]) {
            for name in names.split(separator: " ") {
                table[String(name)] = SecuritySwitch(meaning: meaning, severity: severity, references: references)
            }
        }
        for row in SecuritySwitchTable.rows { add(row.names, row.meaning, row.severity, row.references) }
        return table
    }()
}

/// The names in lowercase without word separators.
enum SecuritySwitchTable {
    static let rows: [(names: String, meaning: SecuritySwitch.Meaning, severity: Severity, references: [String])] = [
        (
            """
            allowinsecure allowinsecureconnections allowinsecureconnection allowinsecurehttp allowhttp allowcleartext \
            allowcleartexttraffic usescleartexttraffic nsallowsarbitraryloads nsallowsarbitraryloadsinwebcontent \
            nsexceptionallowsinsecurehttploads nstemporaryexceptionallowsinsecurehttploads disablessl disabletls \
            disablehttps
            """, .weakens(when: true), .medium, [Reference.network, Reference.testNetwork]
        ),
        (
            """
            allowselfsigned allowselfsignedcertificates allowselfsignedcerts allowuntrustedcertificates \
            allowinvalidcertificates allowexpiredcertificates trustallcertificates trustallcerts ignoresslerrors \
            ignorecertificateerrors ignoretlserrors skipcertificatecheck skipcertificatevalidation \
            skipcertificateverification skipsslverification skiptlsverification skiptlsverify insecureskipverify \
            disablecertificatevalidation disablesslpinning disablecertificatepinning disablepinning bypasspinning
            """, .weakens(when: true), .medium, [Reference.network, Reference.pinning, Reference.testPinning]
        ),
        (
            """
            verifyssl verifytls sslverify tlsverify verifycertificate verifycertificates validatecertificate \
            validatecertificates sslpinning certificatepinning certpinning pinning pinningenabled httpsonly enforcehttps \
            requirehttps
            """, .weakens(when: false), .medium, [Reference.network, Reference.pinning, Reference.testPinning]
        ),
        (
            "disableencryption skipencryption encryptiondisabled storeplaintext", .weakens(when: true), .medium,
            [Reference.storage, Reference.cryptography]
        ),
        (
            "encryption encryptdatabase encryptdata encryptstorage useencryption", .weakens(when: false), .medium,
            [Reference.storage, Reference.cryptography]
        ),
        (
            """
            skiplogin skipauth skipauthentication bypassauth bypassauthentication bypasslogin disableauth \
            disableauthentication skippasscode bypasspasscode
            """, .weakens(when: true), .medium, [Reference.authentication, Reference.localAuthentication]
        ),
        (
            """
            disablejailbreakdetection skipjailbreakcheck bypassjailbreakdetection disablerootdetection \
            disableintegritycheck skipintegritycheck
            """, .weakens(when: true), .medium, [Reference.platformIntegrity, Reference.testJailbreak]
        ),
        (
            "debugmode debugmenu enabledebug enabledebugmode enabledebugmenu debuglogging verboselogging logsensitivedata",
            .weakens(when: true), .low, [Reference.dynamicAnalysis, Reference.leakage]
        ),
        (
            "jailbroken jailbreakdetected rooted rootdetected devicecompromised tampered", .decides, .low,
            [Reference.platformIntegrity, Reference.testJailbreak]
        ),
        (
            """
            biometrics biometric biometry biometricauth biometriclogin biometricunlock faceid touchid usefaceid \
            usetouchid faceidlogin touchidlogin passcode passcoderequired requirepasscode requirespasscode passcodelock \
            pinlock pinrequired requirepin requirespin applock screenlock requireauth \
            requireauthentication requiresauthentication
            """, .decides, .low, [Reference.localAuthentication, Reference.testBiometrics]
        ),
        (
            """
            loggedin signedin authenticated authorized authorised admin superuser administrator staff mfaenabled mfa \
            twofactor twofactorenabled tfaenabled kycverified ageverified identityverified
            """, .decides, .low, [Reference.authentication, Reference.storage]
        ),
        (
            """
            premium prouser proversion fullversion paid paiduser purchased subscribed subscriber subscription \
            subscriptionactive hassubscription licensed licensevalid trialexpired adsremoved removeads unlockedall
            """, .decides, .low, [Reference.validation, Reference.storage]
        ),
    ]
}
