/** Reads a parsed identify body into a fact for the rules. */
import type { IdentifyFact } from '../../../rules/events/facts.ts'
import { readIdentity } from '../../../rules/identity/identity.ts'
import { readOccurredAt } from '../../../rules/events/occurred-at.ts'
import { readProfile } from '../../../rules/identity/profile.ts'
import { sanitiseText } from '../../../rules/events/text.ts'
import { readTraits } from '../../../rules/events/traits.ts'
import { compileCheck, uncleanIssues } from '../../http/check-body.ts'
import { warnOfLargeIntegers } from '../../http/large-integers.ts'
import type { Business } from '../../../businesses/find-business.ts'
import { MAX_AGE_MS } from '../browser/read-browser-event.ts'
import { reject, rejectIdentity, rejectOtherBusiness, rejectShape, type Rejection } from '../../http/rejection.ts'
import { type IdentifyBody, IdentifySchema } from './identify-schema.ts'
import { warnOfIgnored } from '../warn-of-ignored.ts'
import { compileNearMisses } from '../warn-of-near-misses.ts'

const checkIdentify = compileCheck(IdentifySchema)
const warnOfNearMisses = compileNearMisses(IdentifySchema)

interface Caller {
  business: Business
  /** True for a call with a secret key. Without one, traits, tags and value are ignored, each with a warning. */
  keyed: boolean
  /** Time of receipt in epoch ms. */
  now: number
}

export function readIdentify(raw: unknown, caller: Caller): { fact: IdentifyFact } | Rejection {
  const mismatch = rejectOtherBusiness(raw, caller.business)
  if (mismatch !== null) return mismatch
  const checked = checkIdentify(raw)
  if ('issues' in checked) return rejectShape(checked.issues)
  return readFields(raw, checked.body, caller)
}

function readFields(
  raw: unknown,
  body: IdentifyBody,
  { business, keyed, now }: Caller,
): { fact: IdentifyFact } | Rejection {
  const identity = readIdentity(body.identity, business.country)
  const profile = readProfile(body.profile ?? {}, { keyed })
  const traits = keyed ? readTraits(body.traits ?? {}) : { traits: {}, warnings: warnOfIgnored(raw), faults: [] }
  const method = sanitiseText(body.method ?? '')
  const unclean = uncleanIssues({ visitorId: body.visitorId })
  const faults = [...unclean, ...identity.faults, ...profile.faults, ...traits.faults]
  if (faults.length > 0) return reject('invalid_request', faults)
  if (identity.identity === null) return rejectIdentity([...identity.warnings, ...warnOfNearMisses(raw)])
  const time = keyed && body.occurredAt !== undefined ? readOccurredAt(body.occurredAt, now) : null
  if (time !== null && 'fault' in time)
    return reject('invalid_occurred_at', [{ path: 'occurredAt', message: time.fault }])
  return {
    fact: {
      identity: identity.identity,
      profile: profile.profile,
      traits: traits.traits,
      method: method.text || null,
      visitorId: body.visitorId || null,
      // Pages may send calls late that were made offline; servers send theirs at once.
      ageMs: keyed ? 0 : Math.round(Math.min(body.ageMs ?? 0, MAX_AGE_MS)),
      ...(time !== null && { traitsAt: time.at }),
      warnings: [
        ...identity.warnings,
        ...profile.warnings,
        ...(time?.warning === undefined ? [] : [time.warning]),
        ...traits.warnings,
        ...(method.changed ? ['method held characters that cannot be stored; they were replaced'] : []),
        ...warnOfLargeIntegers(raw, keyed ? ['traits'] : []),
        ...warnOfNearMisses(raw),
      ],
    },
  }
}
