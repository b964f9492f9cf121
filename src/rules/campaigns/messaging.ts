/** The settings of a business for all of its campaigns. */
import type { Fault } from '../faults.ts'
import { type Faults, type RawObject, fault } from '../segments/reading/reading.ts'
import { type Cap, DEFAULT_QUIET_HOURS, type Definition, type QuietHours } from './definition.ts'
import { readCaps, readQuietHours } from './read-definition.ts'
import { take } from './read-words.ts'

export interface Messaging {
  /** For campaigns that set none. Null: none. */
  quietHours: QuietHours | null
  /** In addition to those of each campaign. */
  caps: Cap[]
  /** How many messages of calls one address gets in an hour. Null: any number. */
  perAddressHour: number | null
}

export const MAX_PER_ADDRESS_HOUR = 1000

/** For a business without settings. */
export const DEFAULT_MESSAGING: Messaging = { quietHours: DEFAULT_QUIET_HOURS, caps: [], perAddressHour: 20 }

export const SETTERS = ['campaign', 'business'] as const
/** Whether the quiet hours or a cap belong to the campaign or to the business. */
export type SetBy = (typeof SETTERS)[number]

/** The rules for a campaign's messages. */
export interface SendRules extends Pick<Definition, 'holdOut' | 'quietHours'> {
  quietHoursSetBy: SetBy
  caps: (Cap & { setBy: SetBy })[]
}

/** Combines the rules of a campaign with those of its business. */
export function withMessaging<Of extends Pick<Definition, 'caps' | 'quietHours'>>(
  definition: Of,
  messaging: Pick<Messaging, 'quietHours' | 'caps'>,
) {
  const { quietHours: own, caps } = definition
  const isOwn = own !== undefined
  const quietHoursSetBy: SetBy = isOwn ? 'campaign' : 'business'
  const setBy = (of: SetBy) => (cap: Cap) => ({ ...cap, setBy: of })
  return {
    ...definition,
    quietHours: isOwn ? own : messaging.quietHours,
    quietHoursSetBy,
    caps: [...caps.map(setBy('campaign')), ...messaging.caps.map(setBy('business'))],
  }
}

/** Reads settings as the same fields of a campaign are read. Absent fields have their defaults. At most 20 faults. */
export function readMessaging(body: RawObject): { messaging: Messaging } | { faults: Fault[] } {
  const reading: Faults = { faults: [] }
  const { quietHours: hours } = DEFAULT_MESSAGING
  const quietHours = readQuietHours(reading, body, 'quietHours')
  const caps = readCaps(reading, take(body, 'caps'), 'caps')
  const perAddressHour = readPerAddressHour(
    reading,
    Object.hasOwn(body, 'perAddressHour') ? body['perAddressHour'] : undefined,
  )
  if (reading.faults.length > 0) return { faults: reading.faults }
  return { messaging: { quietHours: quietHours === undefined ? hours : quietHours, caps, perAddressHour } }
}

function readPerAddressHour(reading: Faults, sent: unknown): number | null {
  if (sent === undefined) return DEFAULT_MESSAGING.perAddressHour
  if (sent === null) return null
  if (typeof sent === 'number' && Number.isInteger(sent) && sent >= 1 && sent <= MAX_PER_ADDRESS_HOUR) return sent
  fault(reading, 'perAddressHour', 'per_address_hour', { max: MAX_PER_ADDRESS_HOUR })
  return null
}
