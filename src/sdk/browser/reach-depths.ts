const DEPTHS = [25, 50, 75, 100]

/**
 * Returns the quarters of a page that have been seen once it has been scrolled. Allows one pixel for the rounding of
 * browsers.
 */
export function reachDepths(scrolled: number, viewport: number, height: number): number[] {
  if (scrolled <= 0) return []
  return DEPTHS.filter((depth) => scrolled + viewport + 1 >= (height * depth) / 100)
}
