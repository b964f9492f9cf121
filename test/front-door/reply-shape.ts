/** Checks an answer against its schema in the OpenAPI description. */
import { FormatRegistry, type TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { expect } from 'vitest'
import type { Answer } from './http-client.ts'

FormatRegistry.Set('date', (text) => /^\d{4}-\d\d-\d\d$/.test(text))
FormatRegistry.Set('uuid', (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text))
FormatRegistry.Set('date-time', (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text))

export function expectShape(schema: TSchema, value: unknown): void {
  const faults = [...Value.Errors(schema, value)].map(({ path, message }) => `${path}: ${message}`)
  expect(faults).toEqual([])
}

/** Types `expect.any` as unknown. It is typed as `any`, which would disable type checks around it. */
export const anyText: unknown = expect.any(String)

/** Returns the data of a successful answer. */
export function dataOf(schema: TSchema, answer: Answer, status = 200): Record<string, unknown> {
  expect({ status: answer.status, ...answer.body }).toMatchObject({
    status,
    success: true,
    message: anyText,
  })
  expectShape(schema, answer.body.data)
  return answer.body.data
}
