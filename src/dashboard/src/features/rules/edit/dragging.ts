/** The node that is being dragged, and the place where it would be dropped. */
import { createStore } from '../../../store.ts'

/** ID of a node. */
export const dragging = createStore<string | null>(null)

export interface DropPlace {
  groupId: string
  at: number
}
export const dropPlace = createStore<DropPlace | null>(null)
