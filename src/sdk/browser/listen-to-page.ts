/** Handles the events in the life of a page. */
import { guard } from './guard.ts'
import type { Capture } from './start-capture.ts'
import type { Sender } from './start-sending.ts'

/** `settle`: handles a permission that may have changed. */
export function listenToPage(settle: () => void, sender: Sender, capture: Capture | undefined): void {
  // Some browsers leave a page without hiding it first.
  const leave = guard(() => {
    capture?.leave()
    sender.leave()
  })
  const look = guard(() => {
    settle()
    capture?.look()
    sender.wake(0)
  })
  addEventListener('pagehide', leave)
  document.addEventListener('visibilitychange', () => (document.visibilityState === 'hidden' ? leave() : look()))
  // A page that is restored from the browser's cache is viewed again.
  addEventListener('pageshow', ({ persisted }) => persisted && capture?.view())
  document.addEventListener('prerenderingchange', guard(settle))
  addEventListener('storage', guard(settle))
  addEventListener('online', () => sender.wake(0))
}
