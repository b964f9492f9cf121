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

const checkIdentify = compileCheck(IdentifySchema)

/** `keyed`: sent with a secret key; else traits are ignored, with a warning. */
export function readIdentify(raw: unknown, business: Business, keyed: boolean): { fact: IdentifyFact } | Refusal {
  const elsewhere = refuseOtherBusiness(raw, business)
  if (elsewhere !== null) return elsewhere
  const checked = checkIdentify(raw)
  return 'issues' in checked ? refuseShape(checked.issues) : readFields(checked.body, business, keyed)
}

function readFields(body: IdentifyBody, business: Business, keyed: boolean): { fact: IdentifyFact } | Refusal {
  const identity = readIdentity(body.identity, business.country)
  const profile = readProfile(body.profile ?? {})
  const traits = keyed ? readTraits(body.traits ?? {}) : ignoreTraits(body.traits)
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

function ignoreTraits(sent: IdentifyBody['traits']): ReturnType<typeof readTraits> {
  const warnings = Object.keys(sent ?? {}).length === 0 ? [] : ['traits were ignored: they need a secret key']
  return { traits: {}, warnings, faults: [] }
}
