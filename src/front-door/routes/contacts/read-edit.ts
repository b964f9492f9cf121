/** Reads a parsed body into an edit for the rules. */
import { Type } from '@sinclair/typebox'
import type { Issue } from '../../../errors.ts'
import { type EditFact, PROFILE_FIELDS, type ProfileField } from '../../../rules/events/facts.ts'
import { faultOf, moveFault } from '../../../rules/faults.ts'
import { readProfile } from '../../../rules/identity/profile.ts'
import { readTags } from '../../../rules/events/tags.ts'
import { trimText } from '../../../rules/events/text.ts'
import { readTraits } from '../../../rules/events/traits.ts'
import { compileCheck, invalidRequest, requireBody } from '../../http/check-body.ts'
import { isRecord } from '../../../rules/is-record.ts'
import { warnOfLargeIntegers } from '../../http/large-integers.ts'
import { issueOfIgnored } from '../../http/rejection.ts'
import { EditSchema } from './edit-schema.ts'
import { ProfileSchema } from '../sdk/identify-schema.ts'
import { readIdentities, unknownRemovals } from './read-identities.ts'
import { compileNearMisses } from '../warn-of-near-misses.ts'

const checkEdit = compileCheck(EditSchema)
/** The schema of an edit allows any profile field, so the known names come from the schema of `identify`. */
const warnOfNearMisses = compileNearMisses(Type.Object({ ...EditSchema.properties, profile: ProfileSchema }))
/** Field names in an answer with a contact, and the fields of an edit that change them. */
const READ_NAMES: Record<string, string> = {
  tags: 'addTags or removeTags',
  customFields: 'traits',
  identities: 'primaryEmail, primaryPhone or removeIdentities',
  ...Object.fromEntries(PROFILE_FIELDS.map((field) => [field, `profile.${field}`])),
}

/** Reads an edit. Unlike `identify`, an edit stores every field or none. Throws RequestError `invalid_request`. */
export function readEdit(raw: unknown, country: string | null): EditFact {
  const { traits = {}, addTags = [], removeTags = [], ...body } = requireBody(checkEdit(raw))
  const sent = isRecord(raw) ? raw : {}
  if (!PARTS.some((part) => isPresent(sent[part]))) throw invalidRequest(nothingIn(sent))
  const profile = readEditedProfile(body.profile ?? {})
  const read = { traits: readTraits(traits), added: readTags(addTags), removed: readTags(removeTags) }
  const identities = readIdentities(body, country)
  const both = read.removed.tags.filter((tag) => read.added.tags.includes(tag))
  const issues = [
    ...profile.issues,
    ...identities.faults,
    ...unknownRemovals(sent['removeIdentities']),
    ...read.traits.faults,
    ...under('addTags', read.added.faults),
    ...under('removeTags', read.removed.faults),
    ...both.map(() => faultOf('removeTags', 'in_both_tags')),
  ]
  if (issues.length > 0) throw invalidRequest(issues.slice(0, MAX_ISSUES))
  return {
    profile: profile.values,
    traits: read.traits.traits,
    addTags: read.added.tags,
    removeTags: read.removed.tags,
    ...identities.fact,
    warnings: [
      ...profile.warnings,
      ...read.traits.warnings,
      ...warnOfLargeIntegers(sent, ['traits']),
      ...warnOfMisnamed(sent),
    ],
  }
}

const warnOfMisnamed = (raw: Record<string, unknown>): string[] => [...warnOfNearMisses(raw), ...warnOfReadNames(raw)]

const warnOfReadNames = (raw: Record<string, unknown>): string[] =>
  Object.entries(READ_NAMES)
    .filter(([name]) => isPresent(raw[name]))
    .map(([name, field]) => `${name} was ignored: there is no such field; did you mean ${field}?`)

const PARTS = ['profile', 'traits', 'addTags', 'removeTags', 'primaryEmail', 'primaryPhone', 'removeIdentities']
const NOTHING = faultOf('', 'at_least_one', { fields: PARTS.join(', ') })
const MAX_ISSUES = 20

/** A body without any known field may have misnamed ones. */
const nothingIn = (raw: Record<string, unknown>): Issue[] =>
  [NOTHING, ...warnOfMisnamed(raw).map(issueOfIgnored)].slice(0, MAX_ISSUES)

const isPresent = (value: unknown): boolean => value !== undefined && value !== null

const under = (path: string, faults: Issue[]): Issue[] =>
  faults.map((fault) => moveFault(fault, fault.path.replace('tags', path)))

/**
 * Reads the profile; `name` sets firstName and lastName. Values that `identify` skips with a warning are errors here.
 */
function readEditedProfile(sent: Record<string, unknown>): {
  values: EditFact['profile']
  warnings: string[]
  issues: Issue[]
} {
  const values: EditFact['profile'] = {}
  const warnings: string[] = []
  const issues: Issue[] = []
  for (const field of ['name', ...PROFILE_FIELDS] as const) {
    const value = Object.hasOwn(sent, field) ? sent[field] : undefined
    const path = `profile.${field}`
    if (value === undefined) continue
    if (value === null) Object.assign(values, partsOf(field))
    else if (typeof value !== 'string') issues.push(faultOf(path, 'text_or_null'))
    else if (trimText(value) === '') issues.push(faultOf(path, 'not_empty'))
    else {
      const read = readProfile({ [field]: value }, { keyed: true })
      const isStored = Object.keys(read.profile).length > 0
      if (isStored) Object.assign(values, partsOf(field), read.profile)
      const refused = NOT_STORED[field]
      if (refused !== undefined && !isStored && read.faults.length === 0) issues.push(faultOf(path, refused))
      else issues.push(...read.faults, ...(isStored ? [] : read.warnings.map((message) => ({ path, message }))))
      if (isStored) warnings.push(...read.warnings)
    }
  }
  return { values, warnings, issues }
}

const NOT_STORED: Partial<Record<ProfileField | 'name', 'language_tag' | 'zone'>> = {
  language: 'language_tag',
  timezone: 'zone',
}

const partsOf = (field: ProfileField | 'name'): EditFact['profile'] =>
  field === 'name' ? { firstName: null, lastName: null } : { [field]: null }
