/** Of imports and spend. */
export const IMPORT_FAULTS = {
  amount: 'must be a number from 0 to {max}, with at most 4 decimals',
  item_for_each_row: 'must have an item for each row',
  no_field: 'there is no field "{name}"',
  same_spend: 'has the day, channel, source, campaign and currency of spend.{row}',
  mapping: 'must give {fields}',
  rows_up_to: 'has more than {max} rows',
  columns_up_to: 'has more than {max} columns',
  column_or_value: 'column or value is required',
} as const
