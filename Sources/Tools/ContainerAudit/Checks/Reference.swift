/// The ids of OWASP MASVS 2 controls and OWASP MASTG iOS tests that checks refer to.
///
/// Titles and controls of the tests: https://mas.owasp.org/MASTG/tests/, of the controls: https://mas.owasp.org/MASVS/.
enum Reference {
    /// Sensitive data is stored securely.
    static let storage = "MASVS-STORAGE-1"
    /// Sensitive data does not leak.
    static let leakage = "MASVS-STORAGE-2"
    /// Cryptography is current, strong and used properly.
    static let cryptography = "MASVS-CRYPTO-1"
    /// Keys are managed well.
    static let keys = "MASVS-CRYPTO-2"
    /// Authentication and authorisation protocols.
    static let authentication = "MASVS-AUTH-1"
    /// Local authentication.
    static let localAuthentication = "MASVS-AUTH-2"
    /// Traffic is secured.
    static let network = "MASVS-NETWORK-1"
    /// Endpoints are pinned.
    static let pinning = "MASVS-NETWORK-2"
    /// Interaction between programs is secure.
    static let interaction = "MASVS-PLATFORM-1"
    /// Untrusted input is validated.
    static let validation = "MASVS-CODE-4"
    /// The platform's integrity is validated.
    static let platformIntegrity = "MASVS-RESILIENCE-1"
    /// Tampering is detected.
    static let tampering = "MASVS-RESILIENCE-2"
    /// Dynamic analysis is impeded.
    static let dynamicAnalysis = "MASVS-RESILIENCE-4"

    /// Testing Local Data Storage.
    static let testStorage = "MASTG-TEST-0052"
    /// Checking Logs for Sensitive Data.
    static let testLogs = "MASTG-TEST-0053"
    /// Testing Backups for Sensitive Data.
    static let testBackups = "MASTG-TEST-0058"
    /// Testing Memory for Sensitive Data.
    static let testMemory = "MASTG-TEST-0060"
    /// Verifying the Configuration of Cryptographic Standard Algorithms.
    static let testAlgorithms = "MASTG-TEST-0061"
    /// Testing Key Management.
    static let testKeys = "MASTG-TEST-0062"
    /// Testing Biometric Authentication.
    static let testBiometrics = "MASTG-TEST-0064"
    /// Testing Data Encryption on the Network.
    static let testNetwork = "MASTG-TEST-0065"
    /// Testing Custom Certificate Stores and Certificate Pinning.
    static let testPinning = "MASTG-TEST-0068"
    /// Testing App Permissions.
    static let testPermissions = "MASTG-TEST-0069"
    /// Testing App Extensions, including shared containers.
    static let testExtensions = "MASTG-TEST-0072"
    /// Testing whether the App is Debuggable.
    static let testDebuggable = "MASTG-TEST-0082"
    /// Testing Jailbreak Detection.
    static let testJailbreak = "MASTG-TEST-0088"
    /// Testing File Integrity Checks.
    static let testIntegrity = "MASTG-TEST-0090"
    /// Hardcoded Cryptographic Keys in Files.
    static let testKeysInFiles = "MASTG-TEST-0214"
}
