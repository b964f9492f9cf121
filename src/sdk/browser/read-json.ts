/** Parses JSON. Undefined when the text is not JSON, or is null. */
export function readJson(text: string | null): unknown {
  try {
    return (JSON.parse(text ?? '') as unknown) ?? undefined
  } catch {
    return undefined
  }
}
