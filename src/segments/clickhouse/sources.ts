import type { WindowedCondition } from '../../rules/segments/rule.ts'
import { windowKey } from '../../rules/segments/window-key.ts'

/** What the conditions of a rule read, gathered while they are compiled. */
export interface Sources {
  /** Expressions on the row of a contact's snapshot, by name. */
  columns: Map<string, string>
  /** Event names; the place in the list names the columns of each. */
  events: string[]
  /** By key, in the order of their columns. */
  windows: Map<string, WindowedCondition>
}

export const noSources = (): Sources => ({ columns: new Map(), events: [], windows: new Map() })

/** The name of a column of the contact. */
export function columnOf({ columns }: Sources, name: string, expression = name): string {
  columns.set(name, expression)
  return `contact.${name}`
}

/** The name of a column of the statistics of an event. A count of 0 means that it never happened. */
export function statisticOf({ events }: Sources, event: string, what: 'first' | 'last' | 'count'): string {
  const place = events.indexOf(event)
  return `happened.${what}_${place === -1 ? events.push(event) - 1 : place}`
}

/** The names of the columns of a windowed condition: its value, and of how many values it was made. */
export function windowOf({ windows }: Sources, condition: WindowedCondition): { value: string; counted: string } {
  const key = windowKey(condition)
  windows.set(key, windows.get(key) ?? condition)
  const place = [...windows.keys()].indexOf(key)
  return { value: `recent.value_${place}`, counted: `recent.counted_${place}` }
}
