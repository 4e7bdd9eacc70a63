// The producer: the main app, which knows the account and shares its state with the widget.
//
// It obeys one command a line on standard input and answers each with one line, `<what happened>: <for people>`:
//
//   signin NAME SECONDS     signs in, with a token that lives so long
//   signin-file FILE        signs in with a WidgetAuthState from a JSON file
//   refresh SECONDS         a new token for whoever is signed in
//   signout
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
    // Where the group's roster governs the record, the app signs what it writes.
    if let path = ProcessInfo.processInfo.environment["ACCOUNT_WRITER_KEY"] {
        options.writerKey = try WriterKey(contentsOf: path)
    }
    let store = try SealedStore(group: AppGroup("group.com.example.account"), options: options)
    let group = ServiceGroup(
        configuration: ServiceGroupConfiguration(
            services: [
                .init(
                    service: CommandLoop(account: Account(store: store)),
                    successTerminationBehavior: .gracefullyShutdownGroup)
            ],
            gracefulShutdownSignals: [.sigterm, .sigint],
            // What it prints are answers, and nothing else.
            logger: Logger(label: "account-app") { _ in SwiftLogNoOpLogHandler() }))
    try await group.run()
} catch {
    say("\(Failure(error))")
    exit(EXIT_FAILURE)
}
