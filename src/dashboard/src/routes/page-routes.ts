/** Makes the routes of pages from their rows, with the types that links to them need. */
import {
  type AnyContext,
  type AnyRoute,
  createRoute,
  lazyRouteComponent,
  type ResolveFullPath,
  type ResolveId,
  type ResolveParams,
  type Route,
} from '@tanstack/react-router'
import type { ComponentType } from 'react'
import type { Page } from '../pages.ts'
import { type Searches, SEARCHES } from '../searches.ts'
import { loadTexts } from '../texts/index.ts'

type SearchOf<Path> = Path extends keyof Searches ? Searches[Path] : undefined

/** As `createRoute` infers it: its own type names each parameter, and cannot be mapped over rows. */
type PageRoute<Parent extends AnyRoute, Path extends string> = Route<
  unknown,
  Parent,
  Path,
  ResolveFullPath<Parent, Path>,
  string,
  ResolveId<Parent, string, Path>,
  SearchOf<Path>,
  ResolveParams<Path>,
  AnyContext,
  AnyContext,
  AnyContext,
  object,
  () => Promise<void>
>

type PageRoutes<Parent extends AnyRoute, Rows extends Page> = {
  [Row in Rows as Row['path']]: PageRoute<Parent, Row['path']>
}

const code = import.meta.glob<Record<string, ComponentType>>('./**/page.tsx', { base: '../features' })

export function pageRoutes<Parent extends AnyRoute, Rows extends Page>(
  parent: Parent,
  rows: readonly Rows[],
): PageRoutes<Parent, Rows> {
  const entries = rows.map(({ path, code: [folder, component], texts }) => {
    const load = code[`./${folder}/page.tsx`]
    if (load === undefined) throw new Error(`No page in ${folder}`)
    const route = createRoute({
      getParentRoute: () => parent,
      path,
      ...(path in SEARCHES && { validateSearch: SEARCHES[path as keyof Searches] }),
      loader: () => loadTexts(...texts),
      component: lazyRouteComponent(load, component),
    })
    return [path, route] as const
  })
  const routes: Record<string, unknown> = Object.fromEntries(entries)
  return routes as PageRoutes<Parent, Rows>
}
