/** All kinds of differences. A new kind is one entry here, or one in the file of its subject. */
import { checkPostgres } from './check-postgres.ts'
import { ERASURE } from './check-erasures.ts'
import { KEY } from './check-keys.ts'
import { SEGMENT_MEMBERS } from './check-members.ts'
import { SEGMENT_ANSWERS } from './check-segment-answers.ts'
import { SEGMENT_SIZE } from './check-segment-sizes.ts'
import { BUSINESS, GROUPS, REDIS, TABLE } from './check-stores.ts'
import { VIEW } from './check-views.ts'
import { CONTACT_KINDS, statusOfContacts } from './contact-kinds.ts'
import type { BusinessKind, FactKind, Kind, Subject, SubjectName, SystemKind } from './kind.ts'
import { repairContacts } from './repair-contacts.ts'
import { resendVisitors } from './resend-visitors.ts'
import { statusOfVisitors, VISITOR_KINDS } from './visitor-kinds.ts'

/** Kinds found by comparing facts of both stores. */
export const SUBJECTS: Record<SubjectName, Subject> = {
  contact: {
    kinds: CONTACT_KINDS,
    table: 'contacts',
    column: 'id',
    least: '00000000-0000-0000-0000-000000000000',
    greatest: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
    status: statusOfContacts,
    checkRules: checkPostgres,
    repair: repairContacts,
  },
  visitor: {
    kinds: VISITOR_KINDS,
    table: 'visitors',
    column: 'visitor_id',
    least: '',
    greatest: '\u{10ffff}',
    status: statusOfVisitors,
    repair: resendVisitors,
  },
}

/** Kinds found in each business. */
export const BUSINESS_KINDS: Record<string, BusinessKind> = {
  key: KEY,
  erasure: ERASURE,
  view: VIEW,
  segment_members: SEGMENT_MEMBERS,
  segment_answers: SEGMENT_ANSWERS,
  segment_size: SEGMENT_SIZE,
}

/** Kinds found once. */
export const SYSTEM_KINDS: Record<string, SystemKind> = { business: BUSINESS, redis: REDIS, groups: GROUPS }

export const FACT_KINDS: Record<string, FactKind> = { ...CONTACT_KINDS, ...VISITOR_KINDS }

export const KINDS: Record<string, Kind> = {
  ...FACT_KINDS,
  ...BUSINESS_KINDS,
  ...SYSTEM_KINDS,
  table: TABLE,
  /** Violations of the rules in `SUBJECTS`. */
  postgres: { name: 'in Postgres', values: 'own' },
}
