/** Prints local times by the rules that come with the product, and where those of the runtime differ from them. */
import { startAfter, startOf } from '../../../src/analytics/buckets.ts'
import { convertCell } from '../../../src/imports/convert-cell.ts'
import { dueWeek } from '../../../src/rules/boards/mail-week.ts'
import { nextLocalTime, openWindow } from '../../../src/rules/campaigns/local-time.ts'
import { lastDays } from '../../../src/rules/local-days.ts'
import { TIME_ZONES_VERSION, offsetAt } from '../../../src/rules/time/zones.ts'

/** Rules that changed after release 2026c. */
const CHANGED = [
  'America/Havana',
  'America/Inuvik',
  'America/Winnipeg',
  'Africa/Casablanca',
  'Africa/El_Aaiun',
  'America/Edmonton',
  'America/Vancouver',
]
const ZONES = ['America/Vancouver', 'America/Edmonton', 'Africa/Casablanca', 'Europe/Chisinau', 'America/New_York']
const now = Date.parse('2026-11-28T20:30:00Z')

const shown = ZONES.map((zone) => {
  const calendar = { interval: 'day', timezone: zone } as const
  return {
    zone,
    next: nextLocalTime(now, { time: '09:00' }, zone),
    window: openWindow(now, { from: '21:00', to: '09:00' }, zone),
    bucket: [startOf(now, calendar), startAfter(now, calendar)],
    days: lastDays(now, 2, zone),
    mail: [14, 15, 16].map((hour) => dueWeek(Date.parse(`2026-11-30T${hour}:00:00Z`), zone)),
    cell: convertCell('time', '2026-11-28 09:00', { timezone: zone }),
    far: offsetAt(zone, Date.UTC(2600, 6)),
  }
})

/** Zones whose offset, every 26 days from 1970 to 2037, is another one by the runtime's own rules. */
function differing(): string[] {
  const names = Intl.supportedValuesOf('timeZone').filter((zone) => !CHANGED.includes(zone))
  return names.filter((zone) => {
    const format = new Intl.DateTimeFormat('en', {
      timeZone: zone,
      dateStyle: 'short',
      timeStyle: 'medium',
      hourCycle: 'h23',
    })
    const localAt = (at: number) => Date.parse(`${format.format(at)} UTC`)
    for (let at = 0; at < Date.UTC(2038, 0); at += 2_222_222_000)
      if (localAt(at) - at !== offsetAt(zone, at)) return true
    return false
  })
}

const answer = { version: TIME_ZONES_VERSION, shown }
const compare = () => ({ release: process.versions['tz'] ?? '', differing: differing() })
process.stdout.write(JSON.stringify(process.argv.includes('--compare') ? compare() : answer))

export type Answer = typeof answer
export type Comparison = ReturnType<typeof compare>
