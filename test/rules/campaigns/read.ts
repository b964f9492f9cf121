import type { Definition } from '../../../src/rules/campaigns/definition.ts'
import { readDefinition } from '../../../src/rules/campaigns/read-definition.ts'
import type { StepContext } from '../../../src/rules/campaigns/read-steps.ts'
import type { FieldType } from '../../../src/rules/events/facts.ts'

export const TEMPLATE = '0192f0c8-0000-7000-8000-000000000001'
export const SEND = { type: 'send', channel: 'email', template: TEMPLATE }
export const WAIT = { type: 'wait', for: 'P3D' }
export const EXIT = { type: 'exit' }
export const RULE = { tag: 'vip', operator: 'has' }

/** Returns a context in which new ids are `made-1`, `made-2` and so on. */
export function contextOf(more: Partial<StepContext> = {}): StepContext {
  let made = 0
  return {
    fields: new Map<string, FieldType>([['plan', 'Text']]),
    newId: () => `made-${(made += 1)}`,
    ...more,
  }
}

/** Throws for a body with faults. */
export function definitionOf(body: object): Definition {
  const read = readDefinition(body as Record<string, unknown>, contextOf())
  if ('faults' in read) throw new Error(JSON.stringify(read.faults))
  return read.definition
}

/** Returns the messages of the faults; empty when there are none. */
export function faultsOf(body: object, context = contextOf()): string[] {
  const read = readDefinition(body as Record<string, unknown>, context)
  if (!('faults' in read)) return []
  for (const { path, message } of read.faults) if (!message.startsWith(`${path} `)) throw new Error(message)
  return read.faults.map(({ message }) => message)
}
