/** Implements the calls of a page. */
import type { PushOptions, Sluice } from './api.ts'
import { copyJson } from './copy-json.ts'
import { guard } from './guard.ts'
import type { Choice, Visitor } from './know-visitor.ts'
import type { Item, Route } from './open-outbox.ts'
import { version } from './package.json'
import { randomId } from './random-id.ts'
import { warn } from './warn.ts'

export interface Calls {
  submit: (item: Item) => void
  push: (options: PushOptions | false) => void
  /** Handles a permission that the visitor may have just changed. */
  settle: () => void
}

export function takeCalls(visitor: Visitor, { submit, push, settle }: Calls): Sluice {
  const call = (route: Route, body: Item['body']) => submit({ route, at: Date.now(), body })
  const choose = (choice: Choice): void => {
    visitor.choose(choice)
    settle()
  }
  return {
    track: guard((event, details) => {
      if (typeof event !== 'string' || event === '') return warn('track needs the name of an event')
      call('track', { event, details: copyJson(details, 'details'), messageId: randomId() })
    }),
    identify: guard((identity, profile) => {
      const who = copyJson(identity, 'identity')
      if (!who) return warn('identify needs an identity, as in { email }')
      call('identify', { identity: who, profile: copyJson(profile, 'profile') })
    }),
    consent: guard((given: unknown) => choose(given === true ? 'yes' : 'no')),
    optOut: guard((out) => choose(out === false ? 'in' : 'out')),
    push: guard((options = {}) => push(options)),
    visitorId: () => visitor.id() ?? null,
    version,
  }
}
