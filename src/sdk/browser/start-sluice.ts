/** Starts the only Sluice of a page, by tag or by call. */
import type { Options, Sluice } from './api.ts'
import { composeRequest } from './compose-request.ts'
import { followPermission } from './follow-permission.ts'
import { guard } from './guard.ts'
import { knowVisitor } from './know-visitor.ts'
import { listenToPage } from './listen-to-page.ts'
import { openCookies } from './open-cookies.ts'
import { type Item, openOutbox } from './open-outbox.ts'
import { openStore } from './open-store.ts'
import { version } from './package.json'
import type { push } from './push.ts'
import { randomId } from './random-id.ts'
import { outsideReferrer } from './read-touch.ts'
import { startCapture } from './start-capture.ts'
import { startSending } from './start-sending.ts'
import { takeCalls } from './take-calls.ts'
import { warn } from './warn.ts'

/** The object that the snippet beside the tag creates: it collects calls made before the script is loaded. */
interface Stub {
  q?: [name: 'track', args: Parameters<Sluice['track']>][]
}

declare global {
  interface Window {
    sluice?: Sluice | Stub
  }
}

const nothing = () => null
/** Used where nothing can work: on a server, in a very old browser, or without a business. */
const SILENT: Sluice = {
  track: nothing,
  identify: nothing,
  visitorId: nothing,
  consent: nothing,
  optOut: nothing,
  push: nothing,
  version,
}

/** Loads the module for push messages from the service's address. */
export type LoadPush = (endpoint: string) => Promise<{ push: typeof push }>

export function startSluice(options: Options, loadPush: LoadPush): Sluice {
  if (typeof window === 'undefined') return SILENT
  const present = window.sluice
  if (present && 'version' in present) return present
  let sluice = SILENT
  guard(() => (sluice = start(options, loadPush)))()
  window.sluice = sluice
  for (const [name, args] of present?.q ?? []) guard(() => sluice[name](...args))()
  return sluice
}

/** Maximum number of calls that wait for consent. */
const MAX_HELD = 100
/** Captures within this time are sent together. */
const BATCH_MS = 5_000

/** Creates and connects the parts. */
function start({ business, endpoint: given, consent, autocapture }: Options, loadPush: LoadPush): Sluice {
  if (!business) throw new Error('data-business is missing: the id of your business')
  const endpoint = given.replace(/\/+$/, '')
  const landing = { at: Date.now(), url: location.href, referrer: document.referrer }
  const store = openStore(() => localStorage)
  const cookies = openCookies(document, location)
  const visitor = knowVisitor(cookies, store, consent !== undefined)
  const outbox = openOutbox(store, business, Date.now, randomId())
  const sender = startSending(outbox, store, visitor, endpoint, (batch) =>
    composeRequest(batch, { businessId: business, visitorId: visitor.id() }, visitor.touches(), Date.now()),
  )
  const held: Item[] = []
  const submit = (item: Item): void => {
    const permission = visitor.permission()
    const isCall = item.route !== 'capture'
    if (permission === 'granted' && outbox.add(item)) sender.wake(isCall ? 0 : BATCH_MS)
    if (permission === 'pending' && isCall && held.length < MAX_HELD) held.push(item)
  }
  const capture = /^(off|false)$/i.test(autocapture ?? '') ? undefined : startCapture(submit)
  const settle = followPermission(visitor, {
    granted() {
      visitor.welcome(landing)
      // Items left by an earlier page.
      if (outbox.list().length > 0) sender.wake(0)
      capture?.view(outsideReferrer(landing.referrer, cookies.site()))
      held.splice(0).forEach(submit)
    },
    refused() {
      held.length = 0
      visitor.forget()
      outbox.clear()
    },
  })
  listenToPage(settle, sender, capture)
  settle()
  return takeCalls(visitor, {
    submit,
    settle,
    push(pushOptions) {
      const context = { businessId: business, visitorId: visitor.id(), endpoint }
      loadPush(endpoint).then(
        (loaded) => loaded.push(context, pushOptions),
        (error: unknown) => {
          warn(error)
          if (pushOptions) pushOptions.done?.('failed')
        },
      )
    },
  })
}
