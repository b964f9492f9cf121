import type { WindowedCondition } from '../../rules/segments/rule.ts'
import { windowKey } from '../../rules/segments/windows/window-key.ts'

/** What the conditions of a rule read; collected while they are compiled. */
export interface Sources {
  /** Expressions over the row of a contact's snapshot, by name. */
  columns: Map<string, string>
  /** Event names. The position in the list names the columns of each event. */
  events: string[]
  /** Windowed conditions by key, in the order of their columns. */
  windows: Map<string, WindowedCondition>
}

export const noSources = (): Sources => ({ columns: new Map(), events: [], windows: new Map() })

/** Returns the name of a column of the contact. */
export function columnOf({ columns }: Sources, name: string, expression = name): string {
  columns.set(name, expression)
  return `contact.${name}`
}

/** Returns the name of a column of an event's statistics. A count of 0 means that the event never happened. */
export function statisticOf({ events }: Sources, event: string, what: 'first' | 'last' | 'count'): string {
  const place = events.indexOf(event)
  return `happened.${what}_${place === -1 ? events.push(event) - 1 : place}`
}

/** Returns the names of the columns of a windowed condition: its value, and the number of values that went into it. */
export function windowOf({ windows }: Sources, condition: WindowedCondition): { value: string; counted: string } {
  const key = windowKey(condition)
  windows.set(key, windows.get(key) ?? condition)
  const place = [...windows.keys()].indexOf(key)
  return { value: `recent.value_${place}`, counted: `recent.counted_${place}` }
}
