internal import AppGroups
internal import CLinux
internal import CryptoPrimitives
internal import Glibc
internal import SharedFiles

/// The directory in which the service manager puts a unit's credentials: `$CREDENTIALS_DIRECTORY` (systemd.exec(5)).
///
/// A credential for a vault is a key-file text (`sealed-key-1` and 64 hexadecimal digits).
package struct CredentialDirectory: Sendable {
    private static let variable = "CREDENTIALS_DIRECTORY"

    private let path: String?

    /// - Parameter path: Absolute; `nil` if the program was started without credentials.
    package init(path: String?) { self.path = path }

    /// The directory for vaults opened from now on: the process's own. Tests replace it for the length of a call.
    @TaskLocal package static var current = ofProcess

    /// Empty in a program with more rights than its caller, because the caller chooses the environment.
    private static var ofProcess: CredentialDirectory {
        let value = clinux_secure_getenv(variable).flatMap { String(validatingCString: $0) }
        return CredentialDirectory(path: value.flatMap { $0.hasPrefix("/") ? $0 : nil })
    }

    /// Returns whether an entry with that name exists, even if it is unusable: a credential that a unit names is meant
    /// to be used.
    func holds(_ name: String) -> Bool {
        guard let path = try? path(of: name) else { return false }
        return access(path, F_OK) == 0
    }

    /// Reads a credential.
    ///
    /// - Throws: `VaultError` `.noCredential`, `.invalidArgument` for an invalid name, `.unsafeFile`,
    ///   `.malformedKeyFile`, `.denied` or `.file`.
    func read(_ name: String) throws(VaultError) -> SecretBytes {
        let path = try path(of: name)
        do throws(VaultError) {
            // Systemd grants the unit's user access through an access list, which appears in the group's mode bits.
            return try KeyFile.read(path: path, at: .usual, refusing: S_IWGRP | S_IXGRP | S_IRWXO)
        } catch {
            guard error.underlying?.code == .notFound else { throw error }
            throw Self.missing(name, "\(path.printable) does not exist.")
        }
    }

    private func path(of name: String) throws(VaultError) -> String {
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(UInt8(ascii: "/")), !name.utf8.contains(0)
        else {
            throw VaultError(
                .invalidArgument, "read the system credential", name, "A credential's name must be a file name.")
        }
        guard let path else { throw Self.missing(name, "$\(Self.variable) is not set.") }
        return "\(path)/\(name)"
    }

    private static func missing(_ name: String, _ reason: String) -> VaultError {
        VaultError(
            .noCredential, "read the system credential", name, reason,
            advice: "Add it to the unit: LoadCredentialEncrypted=\(name.printable), or LoadCredential= with a file.")
    }
}

extension VaultPlace {
    /// The usual name of the credential that opens this access group's vault.
    var credentialName: String { "sealedstate.\(accessGroup.identifier)" }
}
