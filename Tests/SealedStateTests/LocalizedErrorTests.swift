import AppGroups
import CryptoPrimitives
import Foundation
import Glibc
import KeyVault
import SealedState
import Sealing
import SharedFiles
import Testing

/// Tests of the texts that Foundation takes from an error.
@Suite struct LocalizedErrorTests {
    private let file = FileError(errno: EACCES, operation: "read", path: "/a b")

    @Test func aStructuredErrorGivesItsFields() {
        let error: any Error = VaultError(.locked, "open", "/v/vault", "No credential opens it.", advice: "Give one.")
        #expect(error.localizedDescription == "Cannot open /v/vault: no credential opens it.")
        let localized = error as? any LocalizedError
        #expect(localized?.failureReason == "No credential opens it.")
        #expect(localized?.recoverySuggestion == "Give one.")
        #expect(localized?.helpAnchor == nil)
    }

    /// The group's error states no cause if a file failed: the file's error has the number and the path.
    @Test func anErrorOfAFileGivesTheWordsOfTheFile() {
        let error: any Error = AppGroupError(
            code: .file, operation: "open the container", subject: "/a b", reason: "cannot read", advice: file.advice,
            underlying: file)
        #expect(error.localizedDescription == file.sentence)
        #expect((error as? any LocalizedError)?.failureReason == file.reason)
    }

    @Test func aSealingErrorGivesItsFindingAndAdvice() {
        let sealing = SealingError(.tampered, "open", "Chunk 1 does not match its tag.")
        let error: any Error = sealing
        #expect(error.localizedDescription == "Cannot open: Chunk 1 does not match its tag.")
        #expect((error as? any LocalizedError)?.recoverySuggestion == sealing.advice)
    }

    @Test func everyErrorGivesItsOwnDescription() {
        let errors: [any Error] = [
            file, StoreError(.stale, "read", "note", "It has expired."), CryptoError(.authenticationFailed, "open"),
            ValidationFailure("name", "must not be empty"), DefaultsFault("It is text, not a number."),
        ]
        for error in errors {
            let text = (error as? any LocalizedError)?.errorDescription
            #expect(text != nil && text == error.localizedDescription, "\(error)")
        }
    }

    @Test func controlCharactersAreEscaped() {
        let error: any Error = FileError(
            .notFound, operation: "read", path: "/\u{1B}[2J", advice: "See \u{1B}[2J.")
        let texts = [error.localizedDescription, (error as? any LocalizedError)?.recoverySuggestion ?? "\u{1B}"]
        #expect(texts.allSatisfy { !$0.contains("\u{1B}") })
    }
}
