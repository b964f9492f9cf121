import type { DataOf } from '../../data-of.ts'

type ListedContact = DataOf<'/dashboard/api/b/{businessId}/contacts'>['contacts'][number]

/** Journey stages in their order (decisions, "Journey stage"). */
export const STAGES = [
  'Awareness',
  'Consideration',
  'Decision',
  'Retention',
  'Advocacy',
] as const satisfies readonly ListedContact['stage'][]

export type Stage = (typeof STAGES)[number]
