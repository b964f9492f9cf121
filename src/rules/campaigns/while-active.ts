/**
 * What a trigger event does while the contact and its key are enrolled. `update`: templates read it. `restart`: that,
 * and an enrolment that has claimed no message begins again.
 */
export const WHILE_ACTIVE = ['ignore', 'update', 'restart'] as const
export type WhileActive = (typeof WHILE_ACTIVE)[number]
