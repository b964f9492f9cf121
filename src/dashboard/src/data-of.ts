import type { paths } from './api.d.ts'

/** Data of a successful reply to a method of a path, as in the API description. */
export type DataOf<Path extends keyof paths, Method extends 'get' | 'post' = 'get'> =
  paths[Path] extends Record<Method, { responses: { 200: { content: { 'application/json': { data: infer Data } } } } }>
    ? Data
    : never

/** Body of a call of a method of a path, as in the API description. */
export type BodyOf<Path extends keyof paths, Method extends 'post' | 'put' | 'patch'> =
  paths[Path] extends Record<Method, { requestBody: { content: { 'application/json': infer Body } } }> ? Body : never
