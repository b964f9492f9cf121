/** What Ctrl-K finds besides pages, businesses and actions: pages register what they can search. */
import type { IconName } from '../parts/icon.tsx'
import type { SearchOption } from '../parts/search-list.tsx'
import { createStore } from '../store.ts'

export interface PaletteItem extends SearchOption {
  icon: IconName
  run: () => void
}

export interface PaletteSource {
  key: string
  /** The heading of its items. */
  title: string
  search: (wanted: string, signal: AbortSignal) => Promise<readonly PaletteItem[]>
}

const sources = createStore<readonly PaletteSource[]>([])
export const paletteSources = sources.get

/** Returns its end. */
export function registerPaletteSource(source: PaletteSource): () => void {
  sources.set([...sources.get().filter(({ key }) => key !== source.key), source])
  return () => sources.set(sources.get().filter((one) => one !== source))
}
