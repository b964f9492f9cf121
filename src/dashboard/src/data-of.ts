import type { paths } from './api.d.ts'

/** The data of a successful reply to a method of a path, as the description of the API states it. */
export type DataOf<Path extends keyof paths, Method extends 'get' | 'post' = 'get'> =
  paths[Path] extends Record<Method, { responses: { 200: { content: { 'application/json': { data: infer Data } } } } }>
    ? Data
    : never
