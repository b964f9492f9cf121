/** Identifies a person: at least one field. */
export interface Identity {
  email?: string
  phone?: string | number
  /** Your own user id. */
  platformCustomerId?: string | number
}

/** The person's name and place. Fills only fields that are not known yet. */
export interface Profile {
  /** The full name. `firstName` and `lastName` take precedence. */
  name?: string
  firstName?: string
  lastName?: string
  country?: string
  city?: string
  /** A BCP 47 tag. */
  language?: string
  /** An IANA zone name. */
  timezone?: string
}

/**
 * `denied`: the visitor does not want messages. `unsupported`: the browser cannot receive them. `failed`: see the
 * console.
 */
export type PushOutcome = 'subscribed' | 'denied' | 'unsupported' | 'failed'

export interface PushOptions {
  /** The address of your service worker, which imports Sluice's own. Default: `/sluice-push-sw.js`. */
  worker?: string
  /** Called with the outcome. */
  done?: (outcome: PushOutcome) => void
}

/** `window.sluice`. No call throws; invalid calls are reported on the console. */
export interface Sluice {
  /**
   * Records a deliberate action. The name is kept unchanged; `details` is any JSON of at most 32,768 bytes. Sent at
   * once, and resent until the service accepts it.
   */
  track(event: string, details?: Record<string, unknown>): void
  /** Links this browser to a person. Safe to repeat, for example on every login. */
  identify(identity: Identity, profile?: Profile): void
  /** The value of the cookie `sluice_visitor`; null while nothing may be stored. */
  visitorId(): string | null
  /** Records the visitor's answer to your consent question, for a year or until the next answer. */
  consent(given: boolean): void
  /** Forgets the visitor and sends nothing, whatever `consent` is. `optOut(false)` reverses it. */
  optOut(out?: boolean): void
  /**
   * Asks the visitor for permission to send push messages. Call it in response to a click. `push(false)` unsubscribes.
   */
  push(options?: PushOptions | false): void
  readonly version: string
}

/** The attributes of the tag, without `data-`. */
export interface Options {
  /** The id of your business. */
  business: string
  /** The address of Sluice, such as `https://sluice.example.com`. */
  endpoint: string
  /** Stores and sends nothing before `consent(true)`. Any other value has the same effect. */
  consent?: 'required' | undefined
  /** Sends only the calls that you make. */
  autocapture?: 'off' | undefined
}

/** Only one Sluice per page: a second start returns the first one. */
export type StartSluice = (options: Options) => Sluice
