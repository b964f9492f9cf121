/** The cause of a contact's entry into a segment, or exit from it (segments, "Membership"). */
export const CAUSES = ['live', 'time', 'bulk', 'rule', 'merge', 'erasure'] as const
export type Cause = (typeof CAUSES)[number]
