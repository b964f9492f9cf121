/** The table of rights in the dashboard. Each route of the dashboard names one permission. */

export const PERMISSIONS = [
  /** Lists, charts and settings without personal data. */
  'lists:read',
  /** Contacts, timelines, live requests, messages, previews and colleagues: everything with personal data. */
  'contacts:read',
  'contacts:export',
  'sql:run',
  /** Boards of charts, and the recipients of their mails. */
  'boards:write',
  'contacts:write',
  /** Segments, campaigns, templates, spend and test sends. */
  'audience:write',
  'contacts:erase',
  'imports:write',
  'keys:write',
  /** Destinations and channels. */
  'destinations:write',
  'people:write',
  'business:write',
  'audit:read',
  /** The whole installation: partitions, workers, stores, dead letters. */
  'operations',
] as const
export type Permission = (typeof PERMISSIONS)[number]

/** Roles in a business. */
export const ROLES = ['owner', 'marketer', 'analyst', 'read-only'] as const
export type Role = (typeof ROLES)[number]

const READ_ONLY: Permission[] = ['lists:read']
const ANALYST: Permission[] = [...READ_ONLY, 'contacts:read', 'contacts:export', 'sql:run', 'boards:write']
const MARKETER: Permission[] = [...ANALYST, 'contacts:write', 'audience:write']

/** `operator` is not a role in a business. It applies to the whole installation, and owners cannot grant it. */
export const RIGHTS: Record<Role | 'operator', readonly Permission[]> = {
  'read-only': READ_ONLY,
  analyst: ANALYST,
  marketer: MARKETER,
  owner: PERMISSIONS.filter((permission) => permission !== 'operations'),
  operator: PERMISSIONS,
}

export const can = (role: Role | 'operator', permission: Permission): boolean => RIGHTS[role].includes(permission)
