/** The overlay that is open over the page. At most one is open. */
import { createStore } from '../store.ts'

export const overlay = createStore<'palette' | 'shortcuts' | 'menu' | null>(null)
export const closeOverlay = (): void => overlay.set(null)
