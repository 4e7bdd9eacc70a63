// The consumer: a widget that shows who is signed in, for as long as it runs.
//
// It prints a line, `<state>: <what a person sees>`, whenever what it shows changes. It is told of changes and never looks
// by itself; in between it sleeps. It never shows what the store did not vouch for: when a record is refused, the last good
// one goes out of sight as well.

import AccountShared
import Glibc
import Logging
import SealedState
import SealedStateService
import ServiceLifecycle
import UnixSignals

do {
    let store = try SealedStore(group: AppGroup("group.com.example.account"))
    let display = Display()
    let watcher = RecordWatcher(store, of: WidgetAuthState.self) { update in await display.show(update) }
    let group = ServiceGroup(
        configuration: ServiceGroupConfiguration(
            services: [
                .init(service: watcher),
                .init(service: InputHangup(), successTerminationBehavior: .gracefullyShutdownGroup),
            ],
            gracefulShutdownSignals: [.sigterm, .sigint],
            // What it prints is what it shows, and nothing else.
            logger: Logger(label: "account-widget") { _ in SwiftLogNoOpLogHandler() }))
    try await group.run()
} catch {
    say("failed: \(error)")
    exit(EXIT_FAILURE)
}
