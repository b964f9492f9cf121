/** Why a contact entered or left a segment (segments, "Membership"). */
export const CAUSES = ['live', 'time', 'bulk', 'rule', 'merge', 'erasure'] as const
export type Cause = (typeof CAUSES)[number]
