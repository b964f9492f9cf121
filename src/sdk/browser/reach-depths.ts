const DEPTHS = [25, 50, 75, 100]

/** The quarters of a page that have been seen, once it has been scrolled. Browsers round, so that the end is reached a pixel early. */
export function reachDepths(scrolled: number, viewport: number, height: number): number[] {
  if (scrolled <= 0) return []
  return DEPTHS.filter((depth) => scrolled + viewport + 1 >= (height * depth) / 100)
}
