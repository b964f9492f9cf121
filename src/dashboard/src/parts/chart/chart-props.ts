export interface Series {
  label: string
  /** One value per time. Null is a gap. */
  values: readonly (number | null)[]
  /** Total of the whole time range. It need not be the sum of the values. */
  total?: number | null
  /** In a stack: draws the series below the axis. */
  isBelow?: boolean
}

export interface ChartProps {
  /** What the chart shows; read aloud. */
  label: string
  /** Epoch seconds at which a clock in UTC shows what the chart shows, ascending. */
  times: readonly number[]
  series: readonly Series[]
  kind?: 'line' | 'bars' | 'stack'
  height?: number
  format?: (value: number) => string
  formatAt?: (at: Date) => string
  /** Start of each time in ISO 8601, shown in UTC on hover. Not set when `times` are calendar days. */
  starts?: readonly string[] | undefined
  /** Formats `times` when they are whole numbers, such as steps, instead of times. */
  formatStep?: (step: number) => string
  /**
   * Shows the table below the chart, with every series and a row of totals with this name. The chart then shows only as
   * many series as there are colours.
   */
  totals?: string
  /** Shows the table below the chart, without totals. */
  isTableBelow?: boolean
}
