/** What calls record in the audit log. */
import { expect } from 'vitest'
import type { ActingBusiness } from './business.ts'

/** A call that was made. */
export interface Made {
  business: ActingBusiness
  /** As in `Call`. */
  ids: Record<string, string>
  /** The first id in the path. */
  ofPath: string | undefined
  answer: Record<string, unknown>
}

/** An entry in the audit log. */
export interface Entry {
  action: string
  /** Returns the target. */
  target: (made: Made) => unknown
  /** The names of the changed fields in the details; null when the details name none. */
  fields: readonly string[] | null
}

/** An entry whose target is the first id in the path. */
export const changes = (action: string, ...fields: string[]): Entry => ({
  action,
  target: ({ ofPath }) => ofPath,
  fields: fields.length > 0 ? fields : null,
})
/** An entry whose target is at this place in the answer. */
export const creates = (action: string, ...place: string[]): Entry => ({
  ...changes(action),
  target: ({ answer }) => place.reduce<unknown>((within, name) => (within as Record<string, unknown>)[name], answer),
})
/** An entry whose target is this one of the ids of the call. */
export const changesOther = (name: string, action: string, ...fields: string[]): Entry => ({
  ...changes(action, ...fields),
  target: ({ ids }) => ids[name],
})
export const changesBusiness = (action: string, ...fields: string[]): Entry => ({
  ...changes(action, ...fields),
  target: ({ business }) => business.businessId,
})
/** An entry without a target. */
export const changesMany = (action: string, ...fields: string[]): Entry => ({
  ...changes(action, ...fields),
  target: () => null,
})

/** An entry whose target is an id that the answer does not contain. */
export const createsSome = (action: string): Entry => ({
  ...changes(action),
  target: (): unknown => expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/),
})
