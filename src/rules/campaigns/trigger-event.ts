import type { TriggerEvent } from './campaign-changes.ts'
import { type Json } from '../events/text.ts'

const MAX_TEXT = 100
const LINK_OR_MARKUP = /:\/\/|www\.|[<\r\n\u2028\u2029]/i

/**
 * Returns the properties that templates may read, as JSON text. For an event from a page, only short texts without
 * links, markup and line breaks, numbers and booleans, so that a stranger's words do not get into messages.
 */
export function readableProperties({ properties, isKeyed }: TriggerEvent): string | null {
  if (properties === null || isKeyed) return properties
  return JSON.stringify(harmlessPart(JSON.parse(properties) as Json) ?? {})
}

function harmlessPart(value: Json): Json | undefined {
  if (typeof value === 'string') return isHarmless(value) ? value : undefined
  if (typeof value !== 'object' || value === null) return value ?? undefined
  if (Array.isArray(value)) return value.flatMap((item) => harmlessPart(item) ?? [])
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => {
      const part = isHarmless(key) ? harmlessPart(item) : undefined
      return part === undefined ? [] : [[key, part]]
    }),
  )
}

/** Whether messages may contain a text of a page. */
export const isHarmless = (text: string): boolean => text.length <= MAX_TEXT && !LINK_OR_MARKUP.test(text)
