/**
 * Shows push messages and opens their address on a click. A page's service worker imports it as `/sluice-push-sw.js`.
 */

/** The message that Sluice sends (src/messages/channels/web-push/web-push.ts). */
interface PushMessage {
  /** The id of the message. */
  sluice: string
  title: string
  body: string
  url?: string
  icon?: string
  lang: string
}

interface WaitingEvent {
  waitUntil(work: Promise<unknown>): void
}

interface PushReceived extends WaitingEvent {
  data: { json(): unknown } | null
}

interface NotificationClicked extends WaitingEvent {
  notification: { data: unknown; close(): void }
}

interface WindowClient {
  url: string
  focus(): Promise<unknown>
}

/** The used parts of a service worker. TypeScript has no types for pages and workers together. */
interface WorkerScope {
  registration: { scope: string; showNotification(title: string, options: object): Promise<void> }
  clients: { matchAll(options: object): Promise<WindowClient[]>; openWindow(url: string): Promise<unknown> }
  addEventListener(name: 'push', listener: (event: PushReceived) => void): void
  addEventListener(name: 'notificationclick', listener: (event: NotificationClicked) => void): void
}

const worker = self as unknown as WorkerScope

worker.addEventListener('push', (event) => {
  const message = readMessage(event)
  if (message === undefined) return
  const { sluice, title, body, url = '', icon, lang } = message
  // A message that arrives twice is shown once.
  const options = { body, icon, lang, dir: 'auto', tag: sluice, data: { sluiceUrl: url } }
  event.waitUntil(worker.registration.showNotification(title, options))
})

worker.addEventListener('notificationclick', (event) => {
  const { notification } = event
  const { sluiceUrl } = (notification.data ?? {}) as { sluiceUrl?: string }
  if (sluiceUrl === undefined) return
  notification.close()
  event.waitUntil(show(new URL(sluiceUrl, worker.registration.scope).href))
})

/** Undefined for messages from other senders. */
function readMessage({ data }: PushReceived): PushMessage | undefined {
  try {
    const message = data?.json() as Partial<PushMessage> | null | undefined
    return message?.sluice === undefined ? undefined : (message as PushMessage)
  } catch {
    return undefined
  }
}

/** Focuses a window that already shows the address, or opens a new one. */
async function show(url: string): Promise<void> {
  const windows = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const there = windows.find((window) => window.url === url)
  await (there ? there.focus() : worker.clients.openWindow(url))
}
