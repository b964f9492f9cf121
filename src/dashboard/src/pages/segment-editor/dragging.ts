/** What is being dragged, and where it would fall. */
import { createStore } from '../../store.ts'

/** The id of a node. */
export const dragging = createStore<string | null>(null)

export interface DropPlace {
  groupId: string
  at: number
}
export const dropPlace = createStore<DropPlace | null>(null)
