/** Reads a person's wish from the posted form. */
import { ONE_CLICK_METHOD, PAGE_METHOD } from '../../../messages/unsubscribe/read-preferences.ts'
import { CHANNELS, type Channel } from '../../../rules/events/facts.ts'
import { invalidRequest } from '../../http/check-body.ts'
import type { SentBoxes } from '../../../messages/unsubscribe/page-topics.ts'
import type { OneClick } from '../../../rules/topics/topic.ts'
import type { Form } from '../../http/read-body.ts'

export type Wish =
  | { kind: 'end'; channels: readonly Channel[]; method: string }
  /** The topic of the link. */
  | { kind: 'leave'; method: string }
  | { kind: 'resume' | 'save'; channel: Channel; boxes: SentBoxes }

/** What a link ends: the channels of a message, and its topic. */
export interface LinkTarget {
  channels: readonly Channel[]
  hasTopic: boolean
  /** What a form without a choice ends. */
  oneClick: OneClick
}

/**
 * Reads a wish. A form without a choice, such as that of a mail program, ends the topic of the link, or its channels.
 * Throws RequestError `invalid_request`.
 */
export function readWish(form: Form, { channels: own, hasTopic, oneClick }: LinkTarget): Wish {
  const sent = (['end', 'resume', 'save'] as const).flatMap((name) =>
    form.getAll(name).map((value) => ({ name, value })),
  )
  const [wanted] = sent
  if (wanted === undefined) {
    const method = form.getAll('List-Unsubscribe').includes('One-Click') ? ONE_CLICK_METHOD : PAGE_METHOD
    return hasTopic && oneClick === 'topic' ? { kind: 'leave', method } : { kind: 'end', channels: own, method }
  }
  if (sent.length > 1) throw refuse('the form names more than one choice')
  const { name, value } = wanted
  const channel = CHANNELS.find((one) => one === value)
  if (name === 'end' && value === 'topic' && hasTopic) return { kind: 'leave', method: PAGE_METHOD }
  if (name === 'end' && value === 'all') return { kind: 'end', channels: CHANNELS, method: PAGE_METHOD }
  if (channel === undefined) throw refuse('there is no such choice')
  if (name === 'end') return { kind: 'end', channels: [channel], method: PAGE_METHOD }
  return { kind: name, channel, boxes: readBoxes(form) }
}

/** More than a business can have. */
const MAX_BOXES = 1000

function readBoxes(form: Form): SentBoxes {
  const shown = form
    .getAll('shown')
    .slice(0, MAX_BOXES)
    .map((text): [string, boolean] => {
      const [key = '', state] = String(text).split(' ')
      return [key, state === 'on']
    })
  return { shown: new Map(shown), on: new Set(form.getAll('on').slice(0, MAX_BOXES).map(String)) }
}

const refuse = (message: string) => invalidRequest([{ path: '', message }])
