/** What is open over the page: at most one of these. */
import { createStore } from '../store.ts'

export const overlay = createStore<'palette' | 'shortcuts' | 'menu' | null>(null)
export const closeOverlay = (): void => overlay.set(null)
