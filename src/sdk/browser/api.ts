/** Identifies a person: at least one field. */
export interface Identity {
  email?: string
  phone?: string | number
  /** Your own user id. */
  platformCustomerId?: string | number
}

/** What to call them. Fills what is not known yet. */
export interface Profile {
  /** The whole name; `firstName` and `lastName` win over it. */
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

/** `denied`: the visitor does not want messages. `unsupported`: the browser cannot take them. `failed`: the console says why. */
export type PushOutcome = 'subscribed' | 'denied' | 'unsupported' | 'failed'

export interface PushOptions {
  /** The address of your service worker, which imports that of Sluice. Default: `/sluice-push-sw.js`. */
  worker?: string
  /** Called with how it ended. */
  done?: (outcome: PushOutcome) => void
}

/** `window.sluice`. No call throws; the console shows what is wrong with one. */
export interface Sluice {
  /** A deliberate action. The name is used as it is; `details` is any JSON, at most 32,768 bytes. Sent at once, and again until it is taken. */
  track(event: string, details?: Record<string, unknown>): void
  /** Ties this browser to a person. Safe to repeat, as on every login. */
  identify(identity: Identity, profile?: Profile): void
  /** The value of the cookie `sluice_visitor`; null while nothing may be kept. */
  visitorId(): string | null
  /** The visitor's answer to your consent question. Remembered for a year, until the opposite is said. */
  consent(given: boolean): void
  /** Forgets the visitor and stays silent, whatever `consent` says; `optOut(false)` takes it back. */
  optOut(out?: boolean): void
  /** Asks the visitor for push messages: call it in answer to a click. `push(false)` ends them. */
  push(options?: PushOptions | false): void
  readonly version: string
}

/** The same words as on the tag, without `data-`. */
export interface Options {
  /** The id of your business. */
  business: string
  /** Where Sluice is, as in `https://sluice.example.com`. */
  endpoint: string
  /** Nothing is kept or sent before `consent(true)`. Whatever else is said here is taken for it. */
  consent?: 'required' | undefined
  /** Only what you call is sent. */
  autocapture?: 'off' | undefined
}

/** One Sluice a page: a second start returns the first. */
export type StartSluice = (options: Options) => Sluice
