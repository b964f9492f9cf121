/** All stored data about the visitor: the id, the choices, and the visits that brought them here. */
import { decidePermission, type Permission } from './decide-permission.ts'
import { decideTouches, type Touches } from './decide-touches.ts'
import type { Cookies } from './open-cookies.ts'
import type { Store } from './open-store.ts'
import { randomId } from './random-id.ts'
import { readJson } from './read-json.ts'
import { type Landing, readTouch } from './read-touch.ts'

/** Answers to the consent question (`yes`, `no`), opting out, and opting back in. */
export type Choice = 'yes' | 'no' | 'out' | 'in'

export interface Visitor {
  permission(): Permission
  /** Returns the id. Creates one if there is none; undefined unless permission is granted. */
  id(): string | undefined
  touches(): Touches | undefined
  /** Extends the id by a year, and records the source of this visit. */
  welcome(landing: Landing): void
  forget(): void
  /** Records a choice. An answer to the consent question does not undo an opt-out. */
  choose(choice: Choice): void
}

const ID = 'sluice_visitor'
const CHOICE = 'sluice_choice'
const TOUCHES = 'sluice_touches'

export function knowVisitor(cookies: Cookies, store: Store, consentRequired: boolean): Visitor {
  /** Reads from the cookie, otherwise from the local store. Each restores the other. */
  const recall = (name: string, shape: RegExp) =>
    [cookies.get(name), store.get(name)].find((stored): stored is string => shape.test(stored ?? ''))
  const keep = (name: string, value: string) => {
    cookies.set(name, value)
    store.set(name, value)
  }
  // Both are read on each use, because another tab may have changed them.
  const known = () => recall(ID, /^[0-9a-f]{32}$/)
  const chosen = () => recall(CHOICE, /^(yes|no|out|in)$/)
  const wantsPrivacy = () => (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl === true
  const permission = (): Permission => {
    const decided = decidePermission(wantsPrivacy(), chosen(), consentRequired)
    // A page that is prerendered may never be seen.
    const isAhead = (document as { prerendering?: boolean }).prerendering
    return decided === 'granted' && isAhead ? 'pending' : decided
  }
  const id = (): string | undefined => {
    if (permission() !== 'granted') return undefined
    if (!known()) keep(ID, randomId())
    return known()
  }
  const touches = () => readJson(store.get(TOUCHES)) as Touches | undefined
  return {
    permission,
    id,
    touches,
    welcome(landing) {
      keep(ID, id()!)
      store.set(TOUCHES, JSON.stringify(decideTouches(touches(), readTouch(landing, cookies.site()))))
    },
    forget() {
      if (known()) cookies.remove(ID)
      store.remove(ID)
      store.remove(TOUCHES)
    },
    choose(choice) {
      const isOut = chosen() === 'out'
      if (choice === 'out' || ((choice === 'in') === isOut && !wantsPrivacy())) keep(CHOICE, choice)
    },
  }
}
