/** Implements `sluice.push`. Served as `/sluice-push.js`, and loaded when a page first calls it. */
import type { PushOptions, PushOutcome } from './api.ts'
import { warn } from './warn.ts'

export interface PushContext {
  businessId: string
  /** Undefined when nothing may be stored about the visitor. */
  visitorId: string | undefined
  /** The address of the service, without a trailing slash. */
  endpoint: string
}

/** Never rejects. */
export async function push(context: PushContext, options: PushOptions | false): Promise<void> {
  let outcome: PushOutcome = 'failed'
  try {
    if (!options) return await end(context)
    outcome = await subscribe(context, options.worker ?? '/sluice-push-sw.js')
  } catch (error) {
    warn(error)
  }
  try {
    if (options) options.done?.(outcome)
  } catch (error) {
    warn(error)
  }
}

async function subscribe(context: PushContext, worker: string): Promise<PushOutcome> {
  if (!context.visitorId) throw new Error('push needs the consent of the visitor first')
  if (!('serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window)) return 'unsupported'
  // Comes first, because browsers show the question only soon after a click.
  if ((await Notification.requestPermission()) !== 'granted') return 'denied'
  const registration = await navigator.serviceWorker.register(worker)
  const [{ pushManager }, key] = await Promise.all([activated(registration), report(context, {})])
  const known = await pushManager.getSubscription()
  const isFit = known !== null && keyOf(known) === key
  if (known && !isFit) await known.unsubscribe()
  const options = { userVisibleOnly: true, applicationServerKey: key }
  await report(context, { subscription: isFit ? known : await pushManager.subscribe(options) })
  return 'subscribed'
}

async function end(context: PushContext): Promise<void> {
  const key = await report(context, context.visitorId ? { unsubscribe: true } : {})
  for (const { pushManager } of await navigator.serviceWorker.getRegistrations()) {
    const known = await pushManager.getSubscription()
    // A page can have subscriptions of other services, too.
    if (known && keyOf(known) === key) await known.unsubscribe()
  }
}

/** A worker that is still installing accepts no subscription. */
function activated(registration: ServiceWorkerRegistration): Promise<ServiceWorkerRegistration> {
  return new Promise((resolve, reject) => {
    const { active, waiting, installing } = registration
    const coming = installing ?? waiting
    if (active || !coming) return resolve(registration)
    coming.addEventListener('statechange', () => {
      if (coming.state === 'activated') resolve(registration)
      if (coming.state === 'redundant') reject(new Error('the service worker could not be installed'))
    })
  })
}

/** Returns the key of the business. Rejects when the service refuses the report. */
async function report({ endpoint, ...caller }: PushContext, more: object): Promise<string> {
  const response = await fetch(`${endpoint}/api/sdk/browser/push`, {
    method: 'POST',
    // This type needs no preflight request.
    headers: { 'Content-Type': 'text/plain' },
    body: JSON.stringify({ ...caller, ...more }),
    credentials: 'omit',
  })
  if (!response.ok) throw new Error(`push was refused: ${await response.text()}`)
  const { data } = (await response.json()) as { data: { publicKey: string | null; ignored?: string } }
  if (data.ignored) throw new Error('this browser counts as a bot: nothing is recorded (see --bots)')
  if (data.publicKey === null) throw new Error('the business sends no push messages to browsers')
  return data.publicKey
}

/** In base64url, like the service's key. */
function keyOf({ options: { applicationServerKey } }: PushSubscription): string {
  const text = String.fromCharCode(...new Uint8Array(applicationServerKey ?? new ArrayBuffer(0)))
  return btoa(text).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '')
}
