/** Reads a person's wish from the posted form. */
import { ONE_CLICK_METHOD, PAGE_METHOD } from '../../../messages/unsubscribe/read-preferences.ts'
import { CHANNELS, type Channel } from '../../../rules/events/facts.ts'
import { invalidRequest } from '../../http/check-body.ts'
import type { Form } from '../../http/read-body.ts'

export type Wish = { kind: 'end'; channels: readonly Channel[]; method: string } | { kind: 'resume'; channel: Channel }

/**
 * Reads a wish. A form without a choice, such as that of a mail program, ends the channels of the link (`own`). Throws
 * RequestError `invalid_request`.
 */
export function readWish(form: Form, own: readonly Channel[]): Wish {
  const [ends, resumes] = [form.getAll('end'), form.getAll('resume')]
  const [wanted] = [...ends, ...resumes]
  if (wanted === undefined) {
    const method = form.getAll('List-Unsubscribe').includes('One-Click') ? ONE_CLICK_METHOD : PAGE_METHOD
    return { kind: 'end', channels: own, method }
  }
  const channel = CHANNELS.find((one) => one === wanted)
  if (ends.length + resumes.length > 1) throw refuse('the form names more than one choice')
  if (resumes.length > 0 && channel !== undefined) return { kind: 'resume', channel }
  if (ends.length > 0 && channel !== undefined) return { kind: 'end', channels: [channel], method: PAGE_METHOD }
  if (ends.length > 0 && wanted === 'all') return { kind: 'end', channels: CHANNELS, method: PAGE_METHOD }
  throw refuse('there is no such choice')
}

const refuse = (message: string) => invalidRequest([{ path: '', message }])
