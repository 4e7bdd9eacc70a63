// The consumer: a widget that shows who is signed in, for as long as it runs.
//
// It prints a line, `<state>: <text for people>`, whenever its display changes. It receives changes without polling,
// and sleeps in between. It shows only records that the store has verified: when a record is rejected, the last good
// one is hidden as well.

import AccountShared
import Glibc
import Logging
import SealedState
import SealedStateService
import ServiceLifecycle
import UnixSignals

do {
    let store = try await SealedStore.open(group: AppGroup("group.com.example.account"))
    let display = Display()
    let watcher = RecordWatcher(store, of: WidgetAuthState.self) { update in await display.show(update) }
    let group = ServiceGroup(
        configuration: ServiceGroupConfiguration(
            services: [
                .init(service: watcher),
                .init(service: InputHangup(), successTerminationBehavior: .gracefullyShutdownGroup),
            ],
            gracefulShutdownSignals: [.sigterm, .sigint],
            // The output contains only the display.
            logger: Logger(label: "account-widget") { _ in SwiftLogNoOpLogHandler() }))
    try await group.run()
} catch {
    printLine("failed: \(error)")
    exit(EXIT_FAILURE)
}
