// The producer: the main app, which manages the account and shares its state with the widget.
//
// It executes one command a line on standard input and answers each with one line, `<event>: <text for people>`:
//
//   signin NAME SECONDS     signs in, with a token of that lifetime
//   signin-file FILE        signs in with a WidgetAuthState from a JSON file
//   refresh SECONDS         writes a new token for the current user
//   signout
//   inbox                   takes the pictures that the Share Extension has handed over
//   ask NAME                asks the helper for the initials of a name
//   quit

import AccountShared
import FoundationEssentials
import Glibc
import Logging
import SealedState
import ServiceLifecycle
import UnixSignals

do {
    var options = StoreOptions()
    // If the group's roster governs the record, the app signs its writes.
    if let path = ProcessInfo.processInfo.environment["ACCOUNT_WRITER_KEY"] {
        options.writerKey = try WriterKey(contentsOf: path)
    }
    let store = try await SealedStore.open(group: AppGroup("group.com.example.account"), options: options)
    let group = ServiceGroup(
        configuration: ServiceGroupConfiguration(
            services: [
                .init(
                    service: CommandLoop(account: Account(store: store)),
                    successTerminationBehavior: .gracefullyShutdownGroup)
            ],
            gracefulShutdownSignals: [.sigterm, .sigint],
            // The output contains only answers.
            logger: Logger(label: "account-app") { _ in SwiftLogNoOpLogHandler() }))
    try await group.run()
} catch {
    printLine("\(Failure(error))")
    exit(EXIT_FAILURE)
}
