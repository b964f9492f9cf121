/** Undefined for what is no JSON, or null. */
export function readJson(text: string | null): unknown {
  try {
    return (JSON.parse(text ?? '') as unknown) ?? undefined
  } catch {
    return undefined
  }
}
