import type { DataOf } from '../data-of.ts'

/** What a person may do in a business. */
export type Permission = DataOf<'/dashboard/api/me'>['businesses'][number]['permissions'][number]
