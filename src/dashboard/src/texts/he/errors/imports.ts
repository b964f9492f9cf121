import type { IMPORT_FAULTS } from '../../../../../rules/faults/imports.ts'
import type { TextsOf } from '../../error-texts.ts'

export const imports: TextsOf<typeof IMPORT_FAULTS> = {
  amount: 'חייב להיות מספר מ-0 עד {max} עם 4 ספרות לכל היותר אחרי הנקודה',
  item_for_each_row: 'נדרש פריט לכל שורה',
  no_field: 'השדה "{name}" לא קיים',
  same_spend: 'היום, הערוץ, המקור, הקמפיין והמטבע זהים לאלה של \u2066spend.{row}\u2069',
  mapping: 'חסר המיפוי של {fields}',
  rows_up_to: 'יותר מ־{max} שורות',
  columns_up_to: 'יותר מ־{max} עמודות',
  column_or_value: 'נדרשת עמודה או ערך',
  cell_number: '„{sent}” אינו מספר פשוט כגון 1234.50',
  cell_boolean: '„{sent}” אינו \u2066true\u2069 ואינו \u2066false\u2069',
  cell_epoch:
    '„{sent}” כאלפיות שנייה מאז 1970 הוא לפני 1990 או אחרי 2286. שניות יש לכפול ב־1000; תאריכים יש לכתוב כך: \u20662024-01-31T12:00:00\u2069',
  cell_skipped: '„{sent}” אינו קיים ב־{zone}, כי השעון הוזז קדימה',
  cell_date: '„{sent}” אינו תאריך',
  row_cells: 'בשורה {cells} תאים, ובשורת הכותרת {columns}',
  row_object: 'השורה אינה אובייקט \u2066JSON\u2069',
  row_visitor: '\u2066visitorId\u2069 אינו מותר בייבוא',
  row_business: 'השורה שייכת לעסק אחר מזה של הייבוא ({business})',
  opt_in_object: '\u2066optIn\u2069 חייב להיות אובייקט של ערוצים',
  opt_in_channel: 'אין ערוץ כזה',
  opt_in_date: 'כן ולא דורשים \u2066occurredAt\u2069, מועד הבחירה',
  future: 'אסור שיהיה בעתיד',
}
