/** A trigger by an event (campaigns, "A campaign"). */
import type { Source } from '../events/facts.ts'
import { type SeenEvent, compileWhere } from '../segments/compile/compile-where.ts'
import type { PropertyCondition } from '../segments/rule.ts'

/** Sources that a trigger may require: only servers. Otherwise pages trigger, too. */
export const TRIGGER_SOURCES = ['live'] as const satisfies Source[]

export interface EventTrigger {
  event: string
  /** All conditions must hold. Absent: every event of the name triggers. */
  where?: PropertyCondition[]
  sources?: ['live']
}

export type TriggeringEvent = SeenEvent & { source: Source }
export type TriggerTest = (event: TriggeringEvent) => boolean

/** Returns whether an event of the trigger's name triggers. Null: every event does. */
export function compileTrigger({ where, sources }: Omit<EventTrigger, 'event'>): TriggerTest | null {
  if (where === undefined && sources === undefined) return null
  const fits = compileWhere(where ?? [])
  return (event) => (sources === undefined || event.source === 'live') && fits(event)
}

/** A recorded event. Its properties are parsed once, when they are first needed. */
export function triggeringEvent(
  {
    value,
    meaning,
    properties,
  }: { value: number | null; meaning: Pick<TriggeringEvent, 'currency' | 'type'>; properties: string | null },
  source: Source,
): TriggeringEvent {
  let parsed: unknown
  const read = (): unknown => (parsed ??= properties === null ? {} : JSON.parse(properties))
  return { value, currency: meaning.currency, type: meaning.type, source, properties: read }
}
