/** From a parsed identify body to what the rules understand. */
import type { IdentifyFact } from '../rules/facts.ts'
import { readIdentity } from '../rules/identity.ts'
import { readProfile } from '../rules/profile.ts'
import { sanitiseText } from '../rules/text.ts'
import { readTraits } from '../rules/traits.ts'
import { compileCheck, uncleanIssues } from './check-body.ts'
import type { Business } from './find-business.ts'
import { MAX_AGE_MS } from './read-browser-event.ts'
import { refuse, refuseOtherBusiness, refuseShape, type Refusal } from './refusal.ts'
import { type IdentifyBody, IdentifySchema } from './schemas.ts'
import { warnOfIgnored } from './warn-of-ignored.ts'

const checkIdentify = compileCheck(IdentifySchema)

/** `keyed`: sent with a secret key; else traits, tags and revenue are ignored, with a warning each. */
export function readIdentify(raw: unknown, business: Business, keyed: boolean): { fact: IdentifyFact } | Refusal {
  const elsewhere = refuseOtherBusiness(raw, business)
  if (elsewhere !== null) return elsewhere
  const checked = checkIdentify(raw)
  if ('issues' in checked) return refuseShape(checked.issues)
  const traits = keyed
    ? readTraits(checked.body.traits ?? {})
    : { traits: {}, warnings: warnOfIgnored(raw), faults: [] }
  return readFields(checked.body, traits, business, keyed)
}

function readFields(
  body: IdentifyBody,
  traits: ReturnType<typeof readTraits>,
  business: Business,
  keyed: boolean,
): { fact: IdentifyFact } | Refusal {
  const identity = readIdentity(body.identity, business.country)
  const profile = readProfile(body.profile ?? {})
  const method = sanitiseText(body.method ?? '')
  const unclean = uncleanIssues({ visitorId: body.visitorId })
  const faults = [...unclean, ...identity.faults, ...profile.faults, ...traits.faults]
  if (faults.length > 0) return refuse('invalid_request', faults)
  if (identity.identity === null) return refuse('identity_required')
  return {
    fact: {
      identity: identity.identity,
      profile: profile.profile,
      traits: traits.traits,
      method: method.text || null,
      visitorId: body.visitorId || null,
      // A page tells late what happened offline; a server tells it as it happens.
      ageMs: keyed ? 0 : Math.round(Math.min(body.ageMs ?? 0, MAX_AGE_MS)),
      warnings: [
        ...identity.warnings,
        ...profile.warnings,
        ...traits.warnings,
        ...(method.changed ? ['method held characters that cannot be stored; they were replaced'] : []),
      ],
    },
  }
}
