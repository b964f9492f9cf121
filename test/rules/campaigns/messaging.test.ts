import { describe, expect, it } from 'vitest'
import { DEFAULT_MESSAGING, readMessaging, withMessaging } from '../../../src/rules/campaigns/messaging.ts'
import { definitionOf } from './read.ts'

const CAP = { channel: 'email', atMost: 2, days: 7, whenReached: 'wait' } as const
const OTHER = { ...CAP, channel: 'sms', whenReached: 'skip' } as const
const NIGHT = { from: '22:00', to: '08:00' }

const read = (body: object) => {
  const result = readMessaging(body as Record<string, unknown>)
  return 'messaging' in result ? result.messaging : result.faults.map(({ path }) => path)
}

describe('what a business sets for its campaigns', () => {
  it('is read as the fields of a campaign are', () => {
    const sent = { quietHours: NIGHT, caps: [{ channel: 'email', atMost: 2, days: 7 }, OTHER] }
    expect(read(sent)).toEqual({ quietHours: NIGHT, caps: [CAP, OTHER], perAddressHour: 20 })
    const { quietHours, caps } = definitionOf(sent)
    expect({ quietHours, caps, perAddressHour: 20 }).toEqual(read(sent))
  })

  it('has the defaults for what is left out, and no quiet hours for null and for two equal times', () => {
    expect(read({})).toEqual(DEFAULT_MESSAGING)
    expect(DEFAULT_MESSAGING).toEqual({
      quietHours: { from: '21:00', to: '09:00' },
      caps: [],
      perAddressHour: 20,
    })
    expect(read({ quietHours: null })).toMatchObject({ quietHours: null })
    expect(read({ quietHours: { from: '09:00', to: '09:00' } })).toMatchObject({ quietHours: null })
  })

  it('is refused with the path of each fault', () => {
    const caps = [
      { ...CAP, atMost: 1001 },
      { ...CAP, days: 366 },
    ]
    expect(read({ quietHours: { from: '24:00', to: '09:00' }, caps })).toEqual([
      'quietHours.from',
      'caps[0].atMost',
      'caps[1].days',
    ])
    expect(read({ caps: Array.from({ length: 21 }, () => CAP) })).toEqual(['caps'])
    expect(read({ caps: Array.from({ length: 20 }, () => CAP) })).toMatchObject({ caps: { length: 20 } })
  })
})

describe('a campaign of the business', () => {
  const messaging = { quietHours: NIGHT, caps: [CAP] }

  it('that names no quiet hours has those of the business', () => {
    const rules = withMessaging(definitionOf({}), messaging)
    expect(rules).toMatchObject({ quietHours: NIGHT, quietHoursSetBy: 'business' })
    expect(withMessaging(definitionOf({}), { ...messaging, quietHours: null })).toMatchObject({ quietHours: null })
  })

  it('keeps its own, also when it has none', () => {
    const own = { from: '12:00', to: '13:00' }
    const rules = withMessaging(definitionOf({ quietHours: own }), messaging)
    expect(rules).toMatchObject({ quietHours: own, quietHoursSetBy: 'campaign' })
    const none = withMessaging(definitionOf({ quietHours: null }), messaging)
    expect(none).toMatchObject({ quietHours: null, quietHoursSetBy: 'campaign' })
  })

  it('has its own caps and those of the business', () => {
    const { caps } = withMessaging(definitionOf({ caps: [OTHER] }), messaging)
    expect(caps).toEqual([
      { ...OTHER, setBy: 'campaign' },
      { ...CAP, setBy: 'business' },
    ])
  })
})
