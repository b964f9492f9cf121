/** Of imports and spend. */
export const IMPORT_FAULTS = {
  amount: 'must be a number from 0 to {max}, with at most 4 decimals',
  item_for_each_row: 'must have an item for each row',
  no_field: 'there is no field "{name}"',
  amount_two_ways: '{sent} can be read in two ways: write it without a sign between thousands',
  same_spend: 'has the day, channel, source, campaign and currency of spend.{row}',
  mapping: 'must give {fields}',
  rows_up_to: 'has more than {max} rows',
  column_or_value: 'column or value is required',
  cell_number: '"{sent}" is not a plain number such as 1234.50',
  cell_two_ways:
    '"{sent}" can be read in two ways. Say which sign separates decimals (decimal: point or comma), or write it as 1234.50',
  cell_long: 'has more than {max} characters',
  cell_no_time: 'the time is empty. Fill it in, or leave out rows without a time',
  cell_rounded:
    '"{sent}" looks rounded by a spreadsheet. Format the column as text, enter the whole number, and save the file again',
  cell_boolean: '"{sent}" is neither true nor false',
  cell_choice:
    '"{sent}" is neither the date of an opt-in nor one of these words: {yes} (an opt-in); {no} (an opt-out); {none} (no choice)',
  cell_epoch:
    '"{sent}" as epoch milliseconds is before 1990 or after 2286. Multiply seconds by 1000; write dates as 2024-01-31T12:00:00',
  cell_skipped: '"{sent}" does not exist in {zone}, because the clocks were put forward',
  cell_date: '"{sent}" is not a date',
  row_cells: 'the row has {cells} cells, the header has {columns}',
  row_object: 'the line is not a JSON object',
  row_visitor: 'visitorId is not accepted inside a batch',
  row_business: 'the row belongs to another business than this import ({business})',
  opt_in_object: 'optIn must be an object of channels',
  opt_in_channel: 'there is no such channel',
  opt_in_date: 'yes and no need occurredAt, the date of the choice',
  file_twice: 'The file has two columns named "{name}". Rename one of them',
  file_cells: 'Row {row} has more than {max} cells (the header is row 0)',
  file_cell:
    'A cell of row {row} has more than {max} characters (the header is row 0). Perhaps a quotation mark is missing',
  file_row: 'Row {row} has more than {max} characters (the header is row 0). Perhaps a quotation mark is missing',
  file_columns: 'The file has more than {max} columns',
  file_rows: 'The file has more than {max} rows. Split it',
  file_without: 'The first row names no column of these: {columns}',
  file_same_field: 'The columns "{name}" and "{another}" both hold the {field}. Leave out one',
  file_csv: 'The file cannot be read as CSV: {reason}',
  future: 'must not be in the future',

  // Of items that can be read.
  item_kept: 'internal error: the item is kept for the operator',
  item_again: 'not recorded: the service is busy; send it again',
  item_inactive: 'the business is not active',
  item_erased: 'the contact was erased meanwhile',
} as const
