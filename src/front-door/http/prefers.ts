/** Returns whether the header `Prefer` names this preference. */
export function prefers(request: Request, preference: string): boolean {
  const named = request.headers.get('prefer')?.split(/[,;]/) ?? []
  return named.some((one) => one.trim().toLowerCase() === preference)
}
