export function warn(message: unknown): void {
  console.warn('Sluice:', message)
}
